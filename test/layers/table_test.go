package layers

// row lists what the code of one folder may and may not use. A use is an import path
// ("./api/v1alpha1" is one of this module) or a call ("time.Now()").
type row struct {
	folder string
	// as selects the folder's files that the row covers; the zero value is code of the folder or
	// below it.
	as     fileKind
	may    []string
	mayNot []string
}

type fileKind string

const (
	code     fileKind = ""
	tests    fileKind = "tests"
	rootOnly fileKind = "root" // files of the folder itself, not below it
)

// table has at least one row for every folder with Go code. Planned folders already have theirs, so
// that their first file follows the rules.
var table = []row{
	// API
	{
		folder: "api", as: rootOnly, // the description of the HTTP API
		may:    []string{"embed", "./api/v1alpha1"},
		mayNot: []string{"net/http", "sigs.k8s.io/yaml", "./internal/upgrade/plan", "./internal/server"},
	},
	{
		folder: "api/v1alpha1",
		may:    []string{"fmt", "k8s.io/apimachinery/pkg/apis/meta/v1", "./api/v1alpha1"},
		mayNot: []string{
			"k8s.io/api/core/v1", "k8s.io/client-go/kubernetes", "sigs.k8s.io/controller-runtime/pkg/client", "github.com/spf13/cobra",
			"net/http", "os/exec", "./internal/upgrade/plan", "./internal/engine/drain", "./test/testbed", `fmt.Println("x")`,
		},
	},

	{
		folder: "api/cli/v1alpha1",
		may:    []string{"fmt", "time", "k8s.io/apimachinery/pkg/apis/meta/v1", "./api/v1alpha1"},
		mayNot: []string{
			"k8s.io/api/core/v1", "sigs.k8s.io/controller-runtime/pkg/client", "sigs.k8s.io/yaml", "github.com/spf13/cobra",
			"net/http", "os/exec", "./internal/upgrade/plan", "./internal/engine/install", "./internal/cli/text", `fmt.Println("x")`,
		},
	},
	{
		folder: "api/serve/v1alpha1/client", // of the HTTP API, for programs of users
		may:    []string{"net/http", "github.com/oapi-codegen/runtime", "k8s.io/apimachinery/pkg/apis/meta/v1", "./api/v1alpha1", "./api/cli/v1alpha1"},
		mayNot: []string{
			"k8s.io/api/core/v1", "k8s.io/client-go/kubernetes", "sigs.k8s.io/yaml", "os/exec", "./internal/upgrade/plan", "./internal/server/api",
		},
	},

	// Core
	{
		folder: "internal/upgrade",
		may: []string{
			"fmt", "time", "slices", "net/url", "net/netip", "path", "k8s.io/apimachinery/pkg/util/version",
			"./api/v1alpha1", "./internal/upgrade/skew", "github.com/robfig/cron/v3", "time.Duration(1)",
		},
		mayNot: []string{
			"os", "os/exec", "os/signal", "net", "net/http", "net/http/httptest", "log/slog", "syscall", "math/rand/v2", "crypto/rand",
			"k8s.io/client-go/kubernetes", "sigs.k8s.io/controller-runtime/pkg/client", "k8s.io/utils/clock",
			"./internal/engine/observe", "./internal/controller/clusterupgrade", "./internal/agent", "./cmd/refit", "./test/testbed",
			"time.Now()", "time.Since(time.Time{})", `fmt.Println("x")`,
		},
	},
	{
		folder: "internal/upgrade", as: tests,
		may:    []string{"os", "testing", "pgregory.net/rapid", "github.com/google/go-cmp/cmp", "./internal/upgrade/plan"},
		mayNot: []string{"net/http", "os/exec", "k8s.io/client-go/kubernetes", "./internal/engine/observe", "./test/testbed", "time.Now()"},
	},

	// Adapters
	adapter("agentsocket"),
	adapter("artifact"),
	adapter("backup"),
	adapter("check"),
	adapter("crd"),
	adapter("cri"),
	adapter("drain"),
	adapter("durable"),
	onDisk("durable"),
	adapter("etcd"),
	adapter("helm"),
	adapter("host"),
	onDisk("host"),
	adapter("install"),
	adapter("journal"),
	onDisk("journal"),
	adapter("kubeadm"),
	adapter("object"),
	adapter("observe"),
	adapter("operations"),
	adapter("orders"),
	adapter("otlp"),
	adapter("packages"),
	adapter("rehearsal"),
	adapter("supportbundle"),
	adapter("transient"),
	adapter("trial"),

	// Controllers
	controller("etcdbackup"),
	controller("clusterupgrade"),
	controller("component"),
	controller("metrics"),
	controller("clusterrelease"),
	controller("nodeupgrade"),
	controller("orphan"),
	controller("upgradeschedule"),
	controller("traces"),
	{
		folder: "internal/controller", as: rootOnly,
		may: []string{"./api/v1alpha1", "./internal/engine/observe", "sigs.k8s.io/controller-runtime"},
		mayNot: []string{
			"./internal/controller/nodeupgrade", "./internal/engine/helm", "helm.sh/helm/v4/pkg/action", "./internal/server", "./cmd/refit", "./test/testbed",
		},
	},

	// Entry points
	{
		folder: "internal/agent",
		may: []string{
			"os", "net/http", "./api/v1alpha1", "./internal/upgrade/node", "./internal/engine/journal", "./internal/agent",
			"k8s.io/client-go/kubernetes", "sigs.k8s.io/controller-runtime/pkg/client",
		},
		mayNot: append([]string{
			"./cmd/refit-agent", "./internal/engine/durable/durabletest", `exec.Command("true")`, `os.Rename("a", "b")`, `os.WriteFile("a", nil, 0)`,
		}, tooLargeForTheAgent...),
	},
	{
		folder: "internal/cli",
		may: []string{
			"os", "./api/v1alpha1", "./api/cli/v1alpha1", "./internal/upgrade/progress", "./internal/engine/install", "./internal/cli/text",
			"k8s.io/client-go/rest", "./internal/components/offer",
		},
		mayNot: []string{
			"./internal/agent", "./internal/components", "./internal/components/steps", "./internal/server", "./internal/capi",
			"./internal/controller", "./internal/controller/clusterupgrade",
			"./cmd/refit", "./test/testbed", "github.com/spf13/cobra", "github.com/spf13/pflag", `fmt.Println("x")`, `exec.Command("true")`,
		},
	},
	{
		folder: "internal/components",
		may: []string{
			"./api/v1alpha1", "./internal/upgrade/component", "./internal/engine/helm", "./internal/engine/crd", "./internal/components/steps",
			"sigs.k8s.io/controller-runtime", "k8s.io/client-go/rest",
		},
		mayNot: []string{
			"./internal/agent", "./internal/server", "./internal/capi", "./internal/cli/text", "./internal/controller", "./internal/controller/clusterupgrade",
			"./cmd/refit", "./cmd/refit-components", "./test/testbed", `fmt.Println("x")`, `exec.Command("true")`,
		},
	},
	{
		folder: "internal/server",
		may:    []string{"net/http", "./api/v1alpha1", "./internal/upgrade/plan", "./internal/engine/observe", "./internal/server", "./web"},
		mayNot: []string{
			"./internal/agent", "./internal/capi", "./internal/cli/text", "./internal/controller/clusterupgrade", "./cmd/refit", "./test/testbed",
			`fmt.Println("x")`,
		},
	},
	{
		folder: "internal/capi",
		may:    []string{"net/http", "./api/v1alpha1", "./internal/upgrade/plan", "./internal/engine/observe", "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"},
		mayNot: []string{"./internal/agent", "./internal/server", "./internal/controller/clusterupgrade", "./cmd/refit", "sigs.k8s.io/cluster-api/util"},
	},
	{folder: "web", may: []string{"embed"}, mayNot: []string{"./api/v1alpha1", "./internal/server", "github.com/spf13/cobra"}},
	{folder: "config", may: []string{"embed"}, mayNot: []string{"./api/v1alpha1", "./internal/engine/install", "sigs.k8s.io/yaml"}},

	// Commands
	{
		folder: "cmd/refit",
		may: []string{
			"./api/v1alpha1", "./internal/upgrade/plan", "./internal/engine/observe", "./internal/controller", "./internal/controller/nodeupgrade",
			"./internal/cli/text", "./internal/server", "./cmd/refit/printer", "github.com/spf13/cobra", `fmt.Println("x")`,
		},
		mayNot: []string{"./cmd/refit-agent", "./cmd/refit-agent/flags", "./test/testbed", `exec.Command("true")`},
	},
	{
		folder: "cmd/refit-controller",
		may:    []string{"./internal/controller", "./internal/controller/nodeupgrade", "./internal/capi", "sigs.k8s.io/controller-runtime"},
		mayNot: []string{"./cmd/refit", "./cmd/refit-agent", "./internal/engine/helm", "helm.sh/helm/v4/pkg/action", "./test/testbed"},
	},
	{
		folder: "cmd/refit-components",
		may:    []string{"./internal/components", "./internal/controller", "sigs.k8s.io/controller-runtime"},
		mayNot: []string{"./cmd/refit", "./cmd/refit-agent", "./cmd/refit-controller", "./test/testbed"},
	},
	{
		folder: "cmd/refit-agent",
		may:    []string{"./api/v1alpha1", "./internal/agent", "./internal/engine/journal"},
		mayNot: append([]string{"./cmd/refit"}, tooLargeForTheAgent...),
	},

	{
		folder: "tools",
		may: []string{
			"os", "./config", "./internal/engine/install", "./internal/upgrade/kubefacts", "./test/testbed/builder", "./test/testbed/versions", "./test/testbed/progress",
			`exec.Command("true")`,
		},
		mayNot: []string{
			"./api/v1alpha1", "./internal/upgrade/plan", "./internal/engine/drain", "./cmd/refit", "./test/testbed", "./test/testbed/cluster",
			"k8s.io/kubernetes/cmd/kubeadm/app",
		},
	},

	// The testbed: base, parts, cluster, bare, faces
	{
		folder: "test/disk",
		may:    []string{"testing", "os/exec", "golang.org/x/sys/unix", "./test/testbed/machine"},
		mayNot: []string{"./api/v1alpha1", "./internal/engine/host", "./internal/upgrade/node", "./cmd/refit", "./test/testbed", "./test/testbed/cluster", "./test/apiserver"},
	},
	testbed("versions"),
	testbed("figure"),
	testbed("progress"),
	testbed("builder", "versions", "figure", "progress", "machine"),
	testbed("machine", "versions", "figure", "progress"),
	testbed("sample", "versions", "figure", "progress"),
	testbed("cluster", "versions", "figure", "progress", "builder", "machine", "sample"),
	testbed("bare", "versions", "figure", "progress", "builder", "machine", "sample", "cluster"),
	{
		folder: "test/testbed", as: rootOnly,
		may:    []string{"testing", "./test/testbed/versions", "./test/testbed/cluster", "./test/testbed/bare"},
		mayNot: []string{"./test/testbed/cmd/testbed", "./api/v1alpha1", "./internal/upgrade/plan", "./test/e2e/testbed"},
	},
	{
		folder: "test/testbed/cmd/testbed",
		may:    []string{"./test/testbed/cluster", "./test/testbed/bare", "github.com/spf13/cobra", `fmt.Println("x")`},
		mayNot: []string{"./test/testbed", "./internal/upgrade/plan", "./cmd/refit"},
	},

	// The API server for tests
	{
		folder: "test/apiserver", as: rootOnly,
		may: []string{
			"os/exec", "k8s.io/client-go/kubernetes", "./test/testbed/builder", "./test/testbed/versions", "./test/testbed/figure",
			"./test/testbed/progress", `exec.Command("true")`,
		},
		mayNot: []string{
			"./api/v1alpha1", "./internal/upgrade/plan", "./cmd/refit", "./test/testbed", "./test/testbed/cluster", "./test/testbed/machine",
			"./test/apiserver/api", "./test/e2e/testbed",
		},
	},
	onServer("agent"),
	onServer("agents"),
	onServer("api"),
	onServer("cli"),
	onServer("components"),
	onServer("controller"),
	onServer("crd"),
	onServer("drain"),
	onServer("helm"),
	onServer("install"),
	onServer("object"),
	onServer("observe"),
	onServer("scale"),
	onServer("serve"),
	onServer("supportbundle"),
	onServer("thousands"),
	onServer("trial"),
	onServer("upgradeschedule"),
	{folder: "test/apiserver/another", may: []string{"./test/apiserver"}, mayNot: []string{"./api/v1alpha1", "./internal/upgrade/plan"}},

	// Tests
	{
		folder: "test/e2e",
		may:    []string{"./api/v1alpha1", "./test/testbed", "./test/testbed/cluster", "./test/e2e/story", "k8s.io/client-go/kubernetes"},
		mayNot: []string{"./internal/upgrade/plan", "./internal/engine/etcd", "./cmd/refit"},
	},
	{
		folder: "test/e2e/backup",
		may: []string{
			"./api/v1alpha1", "./internal/engine/backup", "./internal/engine/backup/store", "./internal/upgrade/backup", "./test/e2e/bed",
			"./test/testbed/builder",
		},
		mayNot: []string{
			"./internal/upgrade/plan", "./internal/upgrade/backuptoo", "./internal/engine/etcd", "./internal/engine/backuptoo", "./internal/agent", "./cmd/refit",
		},
	},
	{
		folder: "test/compatibility", may: []string{"testing", "os", "./internal/upgrade/preflight"},
		mayNot: []string{"./api/v1alpha1", "./internal/upgrade/plan", "./test/testbed", "./test/e2e/bed"},
	},
	{folder: "test/layers", may: []string{"testing", "os/exec"}, mayNot: []string{"./api/v1alpha1", "./internal/upgrade/plan", "./test/testbed"}},

	// Everywhere
	{
		folder: "cmd/refit", as: tests,
		mayNot: []string{
			"github.com/pkg/errors", "github.com/sirupsen/logrus", "go.uber.org/zap", "io/ioutil", "math/rand",
			"k8s.io/kubernetes/cmd/kubeadm/app/util", "sigs.k8s.io/cluster-api/util", `println("x")`,
		},
	},
}

var tooLargeForTheAgent = []string{
	"helm.sh/helm/v4/pkg/action", "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1", "sigs.k8s.io/cluster-api/util",
	"sigs.k8s.io/controller-runtime", "sigs.k8s.io/controller-runtime/pkg/manager", "sigs.k8s.io/controller-runtime/pkg/builder",
	"./internal/capi", "./internal/cli/text", "./internal/controller", "./internal/controller/nodeupgrade", "./internal/engine/helm",
	"./internal/server", "./web",
	"./test/testbed",
}

// adapter returns the row of one adapter.
func adapter(name string) row {
	b := row{
		folder: "internal/engine/" + name,
		may: []string{
			"os", "net/http", "k8s.io/client-go/kubernetes", "sigs.k8s.io/controller-runtime/pkg/client", "./api/v1alpha1", "./internal/upgrade/node",
			"./internal/engine/" + name, "./internal/engine/" + name + "/fake", "./internal/engine/durable", "time.Now()", `exec.Command("true")`,
		},
		mayNot: []string{
			"./internal/engine", "./internal/engine/another", "./internal/engine/" + name + "too", "./internal/controller", "./internal/controller/nodeupgrade",
			"./internal/agent", "./internal/server", "./internal/capi", "./cmd/refit", "./test/testbed", "./test/disk",
			"sigs.k8s.io/controller-runtime", "sigs.k8s.io/controller-runtime/pkg/manager", `fmt.Println("x")`,
		},
	}
	writes := `os.WriteFile("a", nil, 0)`
	switch name {
	case "durable", "packages", "rehearsal":
		b.may = append(b.may, writes)
	default:
		b.mayNot = append(b.mayNot, writes, `os.Rename("a", "b")`)
	}
	if name != "durable" {
		b.mayNot = append(b.mayNot, "./internal/engine/durable/durabletest", "./internal/engine/durable/another", "./internal/engine/durabletoo")
	}
	return b
}

// onDisk returns the row of the tests of an adapter that writes to disks.
func onDisk(name string) row {
	return row{
		folder: "internal/engine/" + name, as: tests,
		may:    []string{"./test/disk", "./internal/engine/durable/durabletest"},
		mayNot: []string{"./test/disks", "./test/testbed", "./test/testbed/machine", "./tools/kubefacts"},
	}
}

// controller returns the row of one controller.
func controller(name string) row {
	return row{
		folder: "internal/controller/" + name,
		may: []string{
			"sigs.k8s.io/controller-runtime", "./api/v1alpha1", "./internal/upgrade/plan", "./internal/engine/observe",
			"./internal/controller/" + name, "./internal/controller/" + name + "/fake",
		},
		mayNot: []string{
			"./internal/controller", "./internal/controller/another", "./internal/controller/" + name + "too",
			"./internal/engine/helm", "helm.sh/helm/v4/pkg/action", "./internal/agent", "./internal/server", "./internal/capi", "./cmd/refit", "./test/testbed", `exec.Command("true")`,
		},
	}
}

// onServer returns the row of one folder of tests of the product on an API server.
func onServer(name string) row {
	return row{
		folder: "test/apiserver/" + name,
		may: []string{
			"testing", "os/exec", "k8s.io/client-go/kubernetes", "./api/v1alpha1", "./config", "./internal/upgrade/plan", "./internal/engine/observe",
			"./test/apiserver", "./test/apiserver/agents", "./test/testbed/figure",
		},
		mayNot: []string{
			"./cmd/refit", "./test/testbed", "./test/testbed/cluster", "./test/testbed/builder", "./test/apiserver/another", "./test/e2e/testbed",
		},
	}
}

// testbed returns the row of one folder of the testbed, which may import these others.
func testbed(name string, others ...string) row {
	b := row{
		folder: "test/testbed/" + name,
		may:    []string{"os/exec", "time.Now()", "./test/testbed/" + name},
		mayNot: []string{
			"./test/testbed", "./test/testbed/another", "./test/testbed/cmd/testbed", "./test/apiserver", "./test/e2e/testbed",
			"./api/v1alpha1", "./internal/upgrade/plan", "./internal/engine/etcd", "./cmd/refit",
		},
	}
	allowed := map[string]bool{name: true}
	for _, other := range others {
		allowed[other] = true
	}
	for _, other := range []string{"versions", "figure", "progress", "builder", "machine", "sample", "cluster", "bare"} {
		switch use := "./test/testbed/" + other; {
		case other == name:
		case allowed[other]:
			b.may = append(b.may, use)
		default:
			b.mayNot = append(b.mayNot, use)
		}
	}
	if len(others) == 0 { // the base is standard library only
		b.mayNot = append(b.mayNot, "k8s.io/client-go/kubernetes", "golang.org/x/sys/unix")
	}
	return b
}
