// Package packages installs packages on a host: which package owns a file, the way back before the way forward, install, mend after a kill, verify.
package packages
