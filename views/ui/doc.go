// Package ui holds the components that pages are made of. It knows no route and
// no type of the project: every component takes an Args struct of plain values,
// and its attributes are built here, never pasted together. The reader's locale
// comes with the context (i18n.With).
package ui
