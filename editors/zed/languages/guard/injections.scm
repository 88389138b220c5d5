((pattern) @injection.content
  (#set! injection.language "regex"))
