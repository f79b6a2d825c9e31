package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

func main() {
	r := release{}
	flag.StringVar(&r.version, "version", "", "`version` of the release, such as v0.1.0")
	platforms := flag.String("platforms", "", "`platforms` of the CLI, such as linux/amd64,darwin/arm64")
	flag.StringVar(&r.krew, "krew", "", "`binary` of krew, which installs the plugin")
	flag.StringVar(&r.validator, "validate-krew-manifest", "", "`binary` of krew that validates the manifest of the plugin")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := r.run(ctx, os.Stdout, *platforms, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "releasecheck:", err)
		os.Exit(1)
	}
}

// run checks the artifacts in the first directory, and compares them with those of a second one.
func (r release) run(ctx context.Context, out io.Writer, platforms string, dirs []string) error {
	if r.version == "" || platforms == "" || len(dirs) < 1 || len(dirs) > 2 {
		return errors.New("specify -version, -platforms and one or two directories")
	}
	for p := range strings.SplitSeq(platforms, ",") {
		goos, goarch, ok := strings.Cut(p, "/")
		if !ok || goos == "" || goarch == "" {
			return fmt.Errorf("%q is not OS/ARCHITECTURE", p)
		}
		r.platforms = append(r.platforms, platform{goos, goarch})
	}
	r.dir = dirs[0]
	if err := r.check(ctx); err != nil {
		return err
	}
	digests, err := r.digests()
	if err != nil {
		return err
	}
	if len(dirs) == 1 {
		return printTable(out, digests, nil)
	}
	again, err := release{version: r.version, platforms: r.platforms, dir: dirs[1]}.digests()
	if err != nil {
		return err
	}
	if err := printTable(out, digests, again); err != nil {
		return err
	}
	return sameDigests(digests, again)
}
