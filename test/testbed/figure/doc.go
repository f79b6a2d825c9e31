// Package figure prints measured numbers as lines that a script can find again.
package figure
