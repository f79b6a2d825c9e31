// Command kubelet answers for the kubelet.
package main

import (
	"reflect"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	configv1beta1 "k8s.io/kubelet/config/v1beta1"
	_ "k8s.io/kubernetes/cmd/kubelet/app" // registers the feature gates
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"refit.testbed/ask/answer"
)

type kubelet struct {
	answer.Component
	Config []string `json:"config"`
}

func main() {
	flags, err := flagSet()
	if err != nil {
		answer.Fail(err)
	}
	answer.Print(kubelet{
		Component: answer.Component{Flags: answer.Flags(flags), Gates: answer.Gates()},
		Config:    answer.Fields(reflect.TypeFor[configv1beta1.KubeletConfiguration]()),
	})
}

// flagSet makes the flags as app.NewKubeletCommand does: it parses them itself and
// shows them to nobody.
func flagSet() (*pflag.FlagSet, error) {
	config, err := options.NewKubeletConfiguration()
	if err != nil {
		return nil, err
	}
	flags := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	flags.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	options.NewKubeletFlags().AddFlags(flags)
	options.AddKubeletConfigFlags(flags, config)
	options.AddGlobalFlags(flags)
	flags.BoolP("help", "h", false, "")
	return flags, nil
}
