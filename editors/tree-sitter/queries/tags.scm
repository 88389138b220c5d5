; Definitions and references, for code navigation.
(predicate_item name: (identifier) @name) @definition.function
(let_item name: (identifier) @name) @definition.function
(track_item name: (identifier) @name) @definition.function
(template_item name: (identifier) @name) @definition.function
(const_item name: (identifier) @name) @definition.constant
(enum_item name: (identifier) @name) @definition.class
(record_item name: (identifier) @name) @definition.class
(property_item name: (identifier) @name) @definition.interface
(rule_item name: (identifier) @name) @definition.interface
(unsafe_item name: (identifier) @name) @definition.interface
(requirement_item name: (identifier) @name) @definition.interface
(query_item name: (identifier) @name) @definition.interface
(abstraction_item name: (identifier) @name) @definition.module
(model_item name: (identifier) @name) @definition.module
(system_item name: (identifier) @name) @definition.module
(component_item name: (identifier) @name) @definition.module
(compose_item name: (identifier) @name) @definition.module

(call function: (identifier) @name) @reference.call
(enforce_item name: (identifier) @name) @reference.interface
