// Command kube-scheduler prints facts about kube-scheduler.
package main

import (
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"refit.testbed/query/result"
)

func main() {
	command := app.NewSchedulerCommand()
	result.Run(command, func() {
		result.Print(result.Component{Flags: result.Flags(command.Flags()), Gates: result.Gates()})
	})
}
