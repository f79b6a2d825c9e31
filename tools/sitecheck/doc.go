// Command sitecheck checks the built documentation site: every link leads to a page, an anchor, an
// asset or a file of the repository, and no page loads anything from another host.
//
//	go run ./tools/sitecheck -site bin/site -base / -repository https://github.com/refit-dev/refit
package main
