// Command kube-scheduler answers for kube-scheduler.
package main

import (
	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"refit.testbed/ask/answer"
)

func main() {
	command := app.NewSchedulerCommand()
	answer.Run(command, func() {
		answer.Print(answer.Component{Flags: answer.Flags(command.Flags()), Gates: answer.Gates()})
	})
}
