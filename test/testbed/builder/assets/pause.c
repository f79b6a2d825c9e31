/* pause holds a pod's namespaces open and reaps what is left to it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void leave(int signal) { (void)signal; _exit(0); }
static void reap(int signal) { (void)signal; while (waitpid(-1, 0, WNOHANG) > 0); }

int main(int argc, char **argv) {
	/* kubeadm's upgrade checks the cluster's health with a Job that runs "pause -v". */
	if (argc == 2 && !strcmp(argv[1], "-v")) return puts("pause") < 0;
	struct sigaction down = {.sa_handler = leave}, child = {.sa_handler = reap, .sa_flags = SA_NOCLDSTOP};
	if (sigaction(SIGINT, &down, 0) || sigaction(SIGTERM, &down, 0) || sigaction(SIGCHLD, &child, 0)) return 1;
	for (;;) pause();
}
