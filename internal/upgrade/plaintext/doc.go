// Package plaintext keeps what others wrote, such as the name of a node or the message of a webhook, from acting on the terminal of whoever reads it.
package plaintext
