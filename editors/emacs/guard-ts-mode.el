;;; guard-ts-mode.el --- Tree-sitter mode for Guard specs -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1"))
;; Keywords: languages tree-sitter

;;; Commentary:

;; Colours, indentation, movement and imenu by the grammar in `editors/tree-sitter'.  `M-x guard-ts-mode-install-grammar'
;; compiles it with the C compiler and puts it into `tree-sitter/' of the Emacs directory.

;;; Code:

(require 'treesit)
(require 'guard-mode)

(eval-when-compile (require 'rx))

(defconst guard-ts-mode--directory
  (file-name-directory (or load-file-name buffer-file-name default-directory))
  "The directory of this file.")

(defvar guard-ts-mode--font-lock-settings
  (treesit-font-lock-rules
   :language 'guard
   :feature 'comment
   '([(line_comment) (block_comment)] @font-lock-comment-face
     (doc_comment) @font-lock-doc-face)

   :language 'guard
   :feature 'string
   '([(string) (message)] @font-lock-string-face
     (regex) @font-lock-regexp-face)

   :language 'guard
   :feature 'escape
   :override t
   '((escape) @font-lock-escape-face
     (interpolation ["{" "}"] @font-lock-escape-face))

   :language 'guard
   :feature 'keyword
   `([,@guard-mode--items
      "as" "ordered" "from" "each" "events" "lines" "order" "by" "where" "records" "join" "meta" "id" "complete" "format"
      "message" "on" "formal" "over" "valid" "absorbing" "terminal" "reward" "learn" "load" "import" "smoothing" "pac"
      "epsilon" "delta" "given" "expect" "at" "state" "init" "label" "assume" "guarantee" "step" "steps" "within" "end" "log"
      "warn" "reflect" "ask" "block" "stop" "invoke" "unseen" "error" "allow" "if" "then" "else" "cases" "when" "forall"
      "exists" "any" "all" "count" "for" "leads" "to" "precedes" "and" "or" "not" "in" "contains" "starts_with" "ends_with"
      "matches"]
     @font-lock-keyword-face
     (temporal operator: _ @font-lock-keyword-face)
     (temporal_infix operator: _ @font-lock-keyword-face)
     (path_formula ["A" "E"] @font-lock-keyword-face)
     (probability ["P" "S"] @font-lock-keyword-face)
     (reward_formula ["R" "C" "I" "S"] @font-lock-keyword-face))

   :language 'guard
   :feature 'definition
   '((predicate_item name: (identifier) @font-lock-function-name-face)
     (let_item name: (identifier) @font-lock-function-name-face)
     (track_item name: (identifier) @font-lock-function-name-face)
     (template_item name: (identifier) @font-lock-function-name-face)
     (property_item name: (identifier) @font-lock-function-name-face)
     (rule_item name: (identifier) @font-lock-function-name-face)
     (unsafe_item name: (identifier) @font-lock-function-name-face)
     (requirement_item name: (identifier) @font-lock-function-name-face)
     (query_item name: (identifier) @font-lock-function-name-face)
     (enum_item name: (identifier) @font-lock-type-face)
     (record_item name: (identifier) @font-lock-type-face)
     (const_item name: (identifier) @font-lock-constant-face)
     (field name: (identifier) @font-lock-property-name-face)
     (record_field name: (identifier) @font-lock-property-name-face)
     (member name: (identifier) @font-lock-property-name-face)
     (parameter name: (identifier) @font-lock-variable-name-face)
     (instances name: (identifier) @font-lock-variable-name-face)
     (quantifier name: (identifier) @font-lock-variable-name-face)
     (comprehension name: (identifier) @font-lock-variable-name-face))

   :language 'guard
   :feature 'type
   '((named_type (identifier) @font-lock-type-face)
     (predicate_type :anchor (identifier) @font-lock-type-face)
     (range_type :anchor (identifier) @font-lock-type-face)
     ["list" "set" "map"] @font-lock-type-face)

   :language 'guard
   :feature 'constant
   '([(boolean) (null) (verdict)] @font-lock-constant-face
     (enum_value name: (identifier) @font-lock-constant-face)
     (value_type (identifier) @font-lock-constant-face)
     [(integer) (float) (percent) (duration)] @font-lock-number-face)

   :language 'guard
   :feature 'attribute
   '((attribute "@" @font-lock-preprocessor-face name: (identifier) @font-lock-preprocessor-face))

   :language 'guard
   :feature 'function
   '((call function: (identifier) @font-lock-function-call-face))

   :language 'guard
   :feature 'property
   '((entry key: (identifier) @font-lock-property-use-face)
     (member_access name: (identifier) @font-lock-property-use-face))

   :language 'guard
   :feature 'error
   :override t
   '((ERROR) @font-lock-warning-face))
  "Colours of `guard-ts-mode'.")

(defconst guard-ts-mode--blocks
  (rx bos (or "event_item" "trace_item" "enum_item" "record_item" "requirement_item" "abstraction_item" "enforce_item"
              "system_item" "component_item" "test_item" "learn_settings" "cases" "list" "comprehension" "braces"
              "parameters" "arguments" "parenthesized")
      eos)
  "Nodes whose contents are indented.")

(defvar guard-ts-mode--indent-rules
  `((guard
     ((node-is "[])}]") parent-bol 0)
     ((parent-is "source_file") column-0 0)
     ((parent-is ,guard-ts-mode--blocks) parent-bol guard-indent-offset)))
  "Indentation of `guard-ts-mode'.
Further lines of a definition are left as they are.")

(defun guard-ts-mode--name (node)
  "Return the name of the item NODE, or nil."
  (let ((name (treesit-node-child-by-field-name node "name")))
    (and name (string-trim (treesit-node-text name t) "\"" "\""))))

(defun guard-ts-mode-install-grammar ()
  "Compile the grammar of Guard and put it where Emacs looks for grammars."
  (interactive)
  (let* ((source (expand-file-name "../tree-sitter/src/" guard-ts-mode--directory))
         (folder (expand-file-name "tree-sitter/" user-emacs-directory))
         (library (concat folder "libtree-sitter-guard" module-file-suffix)))
    (make-directory folder t)
    (with-temp-buffer
      (unless (zerop (call-process "cc" nil t nil "-O2" "-shared" "-fPIC" "-I" source "-o" library
                                   (concat source "parser.c") (concat source "scanner.c")))
        (error "The grammar cannot be compiled: %s" (buffer-string))))
    (message "%s" library)))

;;;###autoload
(define-derived-mode guard-ts-mode prog-mode "Guard"
  "Major mode for specs of Guard, by tree-sitter."
  :syntax-table guard-mode-syntax-table
  (unless (treesit-ready-p 'guard)
    (error "No grammar of Guard: M-x guard-ts-mode-install-grammar"))
  (treesit-parser-create 'guard)
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local comment-start-skip "//+[!/]*[ \t]*")
  (setq-local indent-tabs-mode nil)
  (setq-local treesit-font-lock-settings guard-ts-mode--font-lock-settings)
  (setq-local treesit-font-lock-feature-list
              '((comment string keyword definition)
                (type constant attribute escape)
                (function property)
                (error)))
  (setq-local treesit-simple-indent-rules guard-ts-mode--indent-rules)
  (setq-local treesit-defun-type-regexp "_item\\'")
  (setq-local treesit-defun-name-function #'guard-ts-mode--name)
  (setq-local treesit-simple-imenu-settings '((nil "_item\\'" guard-ts-mode--name nil)))
  (treesit-major-mode-setup))

(provide 'guard-ts-mode)
;;; guard-ts-mode.el ends here
