(const_item "const" @context name: (_) @name) @item
(enum_item "enum" @context name: (_) @name) @item
(record_item "record" @context name: (_) @name) @item
(let_item "let" @context name: (_) @name) @item
(predicate_item "predicate" @context name: (_) @name) @item
(track_item "track" @context name: (_) @name) @item
(template_item "template" @context name: (_) @name) @item
(property_item "property" @context name: (_) @name) @item
(rule_item "rule" @context name: (_) @name) @item
(unsafe_item "unsafe" @context name: (_) @name) @item
(requirement_item "requirement" @context name: (_) @name) @item
(query_item "query" @context name: (_) @name) @item
(abstraction_item "abstraction" @context name: (_) @name) @item
(model_item "model" @context name: (_) @name) @item
(system_item "system" @context name: (_) @name) @item
(component_item "component" @context name: (_) @name) @item
(compose_item "compose" @context name: (_) @name) @item
(test_item "test" @context name: (_) @name) @item
(event_item "event" @name) @item
(trace_item "trace" @name) @item
(enforce_item "enforce" @context name: (_) @name) @item
