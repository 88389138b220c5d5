((pattern) @injection.content
  (#set! injection.language "regex"))

((doc_comment) @injection.content
  (#set! injection.language "markdown_inline"))
