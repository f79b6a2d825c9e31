// Package web serves the pages of `refit serve`: the React application of this folder, which a
// build with the tag web embeds. Without the tag, nothing here needs Node.
package web
