;;; guard-mode.el --- Major mode for Guard specs -*- lexical-binding: t -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: languages

;;; Commentary:

;; Colours, comments and indentation for `.guard' files, and the server `guard lsp' for eglot: `M-x eglot' in such a buffer
;; starts it.

;;; Code:

(defvar eglot-server-programs)

(defconst guard-mode--items
  '("use" "const" "enum" "record" "let" "trace" "event" "predicate" "track" "unsafe" "property" "rule" "template"
    "requirement" "abstraction" "model" "query" "enforce" "system" "component" "compose" "test")
  "Words that begin an item in column 0.")

(defconst guard-mode--words
  '("always" "eventually" "next" "weak_next" "until" "unless" "release" "strong_release" "previously" "weak_previously"
    "once" "historically" "since" "back_to" "never" "forall" "exists" "if" "then" "else" "cases" "when" "within" "precedes"
    "leads" "to" "and" "or" "not" "in" "as" "matches" "contains" "starts_with" "ends_with" "any" "all" "count")
  "Words of formulas and expressions.")

(defconst guard-mode--types
  '("bool" "int" "float" "string" "time" "duration" "json" "list" "set" "map" "pred")
  "Types.")

(defvar guard-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23" table)
    (modify-syntax-entry ?\n "> b" table)
    (modify-syntax-entry ?_ "w" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?' "." table)
    table)
  "Syntax table of `guard-mode'.")

(defvar guard-mode-font-lock-keywords
  `((,(concat "^" (regexp-opt guard-mode--items 'words) "[ \t]+\\([A-Za-z_][A-Za-z0-9_]*\\)")
     (1 font-lock-keyword-face)
     (2 font-lock-function-name-face))
    (,(concat "^" (regexp-opt guard-mode--items 'words)) . font-lock-keyword-face)
    (,(regexp-opt guard-mode--words 'words) . font-lock-keyword-face)
    (,(regexp-opt guard-mode--types 'words) . font-lock-type-face)
    (,(regexp-opt '("true" "false" "null" "unknown" "last") 'words) . font-lock-constant-face)
    ("@[A-Za-z_]+" . font-lock-preprocessor-face))
  "Colours of `guard-mode'.")

(defvar guard-indent-offset 2
  "The number of columns by which the contents of brackets are indented.")

(defconst guard-mode--syntax-propertize
  (syntax-propertize-rules
   ;; A slash after an operand divides.
   ((rx (or (any "(,=[{:&|!") (seq symbol-start (or "matches" "then" "else")) bol) (* (any " \t"))
        (group "/")
        (+ (or (seq "\\" nonl) (seq "[" (* (or (seq "\\" nonl) (not (any "]\\\n")))) "]") (not (any "[/\\\n"))))
        (group "/"))
    (1 (unless (or (eq (char-after (match-end 1)) ?*)
                   (nth 8 (save-excursion (syntax-ppss (match-beginning 1)))))
         (string-to-syntax "|")))
    (2 (and (get-text-property (match-beginning 1) 'syntax-table) (string-to-syntax "|")))))
  "Regular expressions are strings: brackets in them mean nothing.")

(defun guard-mode--goes-on-p (opener)
  "Return whether the line goes on with an expression in the bracket at OPENER."
  (let ((last (save-excursion (skip-chars-backward " \t\n") (char-before))))
    (or (looking-at (rx (or (seq (or "and" "or" "then" "else" "message" "in" "matches" "contains" "starts_with" "ends_with")
                                 symbol-end)
                            (any "-=<>+*?|&"))))
        (memq last '(?: ?= ?>))
        (and (eq (char-after opener) ?\() (not (memq last '(?\( ?,)))))))

(defun guard-mode-indent-line ()
  "Indent the line by one more than the line that opens the bracket around it.
A line that goes on with an expression may have more."
  (interactive)
  (let* ((offset (save-excursion
                   (back-to-indentation)
                   (let* ((opener (nth 1 (syntax-ppss)))
                          (least (if (and opener (guard-mode--goes-on-p opener)) (current-indentation) 0))
                          (inside (if (looking-at "[])}]") 0 guard-indent-offset)))
                     (if opener
                         (max least (+ inside (progn (goto-char opener) (current-indentation))))
                       0))))
         (from-indentation (- (current-column) (current-indentation))))
    ;; Outside of brackets, a line that continues a definition is indented by hand.
    (when (or (> offset 0) (save-excursion (back-to-indentation) (looking-at "[])}]")))
      (indent-line-to offset)
      (when (> from-indentation 0)
        (forward-char from-indentation)))))

;;;###autoload
(define-derived-mode guard-mode prog-mode "Guard"
  "Major mode for specs of Guard."
  :syntax-table guard-mode-syntax-table
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local comment-start-skip "//+[!/]*[ \t]*")
  (setq-local indent-tabs-mode nil)
  (setq-local indent-line-function #'guard-mode-indent-line)
  (setq-local syntax-propertize-function guard-mode--syntax-propertize)
  (setq-local font-lock-defaults '(guard-mode-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.guard\\'" . guard-mode))

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '((guard-mode guard-ts-mode) . ("guard" "lsp"))))

(provide 'guard-mode)
;;; guard-mode.el ends here
