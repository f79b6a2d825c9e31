// Package keyring stores passphrases in the keyring of the user: the Secret Service on Linux, the
// keychain on macOS, the credential manager on Windows.
package keyring
