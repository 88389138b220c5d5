; `f`: definitions and properties. `t`: what has fields or members. `T`: tests.
(predicate_item value: (_) @function.inside) @function.around
(let_item value: (_) @function.inside) @function.around
(track_item) @function.around
(template_item formula: (_) @function.inside) @function.around
(property_item formula: (_) @function.inside) @function.around
(unsafe_item formula: (_) @function.inside) @function.around
(query_item formula: (_) @function.inside) @function.around
(rule_item) @function.around
(requirement_item) @function.around

[(event_item) (record_item) (enum_item) (system_item) (component_item) (abstraction_item)] @class.around

(test_item (test_clause)* @test.inside) @test.around

(parameter) @parameter.inside @parameter.around
(arguments (_) @parameter.inside @parameter.around)

[(line_comment) (doc_comment) (block_comment)] @comment.inside
(line_comment)+ @comment.around
(doc_comment)+ @comment.around
(block_comment) @comment.around

(entry value: (_) @entry.inside) @entry.around
