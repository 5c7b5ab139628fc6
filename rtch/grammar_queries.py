"""Tree-sitter queries: which nodes of each grammar define something.

Each pattern captures the node as its kind (``cls fun met typ con mod mac``, as in ``languages``; ``own``
only contains others) and the node that names it as ``name``.
"""

from __future__ import annotations

_PYTHON = """
(function_definition name: (identifier) @name) @fun
(class_definition name: (identifier) @name) @cls
(type_alias_statement left: (type (identifier) @name)) @typ
(type_alias_statement left: (type (generic_type (identifier) @name))) @typ
(module (expression_statement (assignment left: (identifier) @name) @con))
"""

_JAVASCRIPT = """
(function_declaration name: (identifier) @name) @fun
(generator_function_declaration name: (identifier) @name) @fun
(method_definition name: (_) @name) @met
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]) @fun
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function) (function_expression)]) @fun
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @fun
(program (lexical_declaration (variable_declarator name: (identifier) @name) @con))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @con)))
"""
_JAVASCRIPT_ONLY = """
(class_declaration name: (identifier) @name) @cls
(field_definition property: (property_identifier) @name value: [(arrow_function) (function_expression)]) @met
"""
_TYPESCRIPT = """
(class_declaration name: (type_identifier) @name) @cls
(abstract_class_declaration name: (type_identifier) @name) @cls
(interface_declaration name: (type_identifier) @name) @typ
(type_alias_declaration name: (type_identifier) @name) @typ
(enum_declaration name: (identifier) @name) @typ
(internal_module name: (_) @name) @mod
(module name: (_) @name) @mod
(function_signature name: (identifier) @name) @fun
(method_signature name: (_) @name) @met
(abstract_method_signature name: (_) @name) @met
(public_field_definition name: (property_identifier) @name value: [(arrow_function) (function_expression)]) @met
"""

_GO = """
(function_declaration name: (identifier) @name) @fun
(method_declaration name: (field_identifier) @name) @met
(type_spec name: (type_identifier) @name) @typ
(type_alias name: (type_identifier) @name) @typ
(source_file (const_declaration (const_spec name: (identifier) @name) @con))
(source_file (var_declaration (var_spec name: (identifier) @name) @con))
"""

_RUST = """
(function_item name: (identifier) @name) @fun
(function_signature_item name: (identifier) @name) @fun
(struct_item name: (type_identifier) @name) @cls
(enum_item name: (type_identifier) @name) @cls
(union_item name: (type_identifier) @name) @cls
(trait_item name: (type_identifier) @name) @typ
(type_item name: (type_identifier) @name) @typ
(mod_item name: (identifier) @name) @mod
(const_item name: (identifier) @name) @con
(static_item name: (identifier) @name) @con
(macro_definition name: (identifier) @name) @mac
(impl_item type: (_) @name) @own
"""

_JAVA = """
(class_declaration name: (identifier) @name) @cls
(record_declaration name: (identifier) @name) @cls
(interface_declaration name: (identifier) @name) @typ
(enum_declaration name: (identifier) @name) @typ
(annotation_type_declaration name: (identifier) @name) @typ
(method_declaration name: (identifier) @name) @met
(constructor_declaration name: (identifier) @name) @met
"""

_C = """
(function_definition declarator: (_) @name) @fun
(struct_specifier name: (type_identifier) @name body: (_)) @cls
(union_specifier name: (type_identifier) @name body: (_)) @cls
(enum_specifier name: (type_identifier) @name body: (_)) @typ
(type_definition declarator: (type_identifier) @name) @typ
(preproc_def name: (identifier) @name) @mac
(preproc_function_def name: (identifier) @name) @mac
"""
_CPP = """
(class_specifier name: (_) @name body: (_)) @cls
(namespace_definition name: (_) @name) @mod
(alias_declaration name: (type_identifier) @name) @typ
(field_declaration declarator: (function_declarator declarator: (field_identifier) @name)) @met
"""

_RUBY = """
(method name: (_) @name) @fun
(singleton_method name: (_) @name) @fun
(class name: (_) @name) @cls
(module name: (_) @name) @mod
(assignment left: (constant) @name) @con
"""

_BASH = """
(function_definition name: (word) @name) @fun
(program (variable_assignment name: (variable_name) @name) @con)
(program (declaration_command (variable_assignment name: (variable_name) @name) @con))
"""

QUERIES = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT + _JAVASCRIPT_ONLY,
    "typescript": _JAVASCRIPT + _TYPESCRIPT,
    "tsx": _JAVASCRIPT + _TYPESCRIPT,
    "go": _GO,
    "rust": _RUST,
    "java": _JAVA,
    "c": _C,
    "cpp": _C + _CPP,
    "ruby": _RUBY,
    "bash": _BASH,
}
