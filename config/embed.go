package config

import "embed"

// Files are the manifests, in one folder per concern.
//
//go:embed agent components controller crd policy rbac
var Files embed.FS
