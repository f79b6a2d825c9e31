// Package plaintext escapes text from others, such as the name of a node or the message of a
// webhook, so that it cannot control the terminal that shows it.
package plaintext
