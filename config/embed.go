package config

import "embed"

// Files are the manifests, in one folder each.
//
//go:embed agent controller crd policy rbac
var Files embed.FS
