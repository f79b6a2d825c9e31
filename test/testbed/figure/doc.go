// Package figure prints measurements as lines that scripts can parse.
package figure
