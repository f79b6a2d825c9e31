#!/bin/bash
# Upgrades a cluster through `refit serve`, and follows the upgrade until it ends.
#
#   REFIT_URL      the address of the server, such as https://refit.example.com:8443
#   REFIT_TOKEN    a token of a ServiceAccount that may create and approve upgrades
#   REFIT_CA       the file of the server's certificate
#   REFIT_TO       the version to upgrade to, such as v1.36.3
#   REFIT_RUN      the id of this run of the pipeline; a run with the same id follows what the first has started
#   REFIT_TIMEOUT  the seconds to wait for the end of the upgrade (7200)
#   REFIT_RETRY    the seconds to retry a request that the server does not answer (60)
#
# Exits with
#   0  if the upgrade succeeds or there is nothing to upgrade
#   1  if it fails, or the server refuses a request
#   2  if the server does not answer
#   3  if a preflight finding blocks the upgrade
#   4  if the upgrade has not ended after REFIT_TIMEOUT; it continues, and another run follows it
set -euo pipefail
: "${REFIT_URL:?}" "${REFIT_TOKEN:?}" "${REFIT_CA:?}" "${REFIT_TO:?}" "${REFIT_RUN:?}"
deadline=$((SECONDS + ${REFIT_TIMEOUT:-7200}))
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT

# call METHOD PATH [CURL OPTION...] writes the answer to $answer and prints its status. The token is
# not an argument: other users of the host see those. --retry repeats a request after 429 and 503.
call() {
  local method=$1 path=$2
  shift 2
  curl --silent --show-error --cacert "$REFIT_CA" --config - --request "$method" --output "$answer" --write-out '%{http_code}' \
    --retry 10 --retry-connrefused --retry-max-time "${REFIT_RETRY:-60}" --max-time 330 "$@" "$REFIT_URL/api/v1alpha1$path" <<<"header = \"Authorization: Bearer $REFIT_TOKEN\"" || exit 2
}

fail() {
  jq -r '"\(.code): \(.detail // .title)", (.errors // [] | .[] | "  \(.pointer): \(.detail)"), (.remedy // empty)' "$answer" >&2
  exit "${1:-1}"
}

blocked() {
  jq -r '.. | .findings? // empty | .[] | select(.blocks) | "\(.check) \(.object // ""): \(.message)\n  \(.remedy // "")"' "$answer" >&2
  exit 3
}

# check waits for the report on the upgrade.
check() {
  spec=$(jq -n --arg to "$REFIT_TO" '{target: {kubernetes: $to}}')
  status=$(call POST /checks --header 'Content-Type: application/json' --header 'Prefer: wait=300' --data "$spec")
  [[ $status == 20? ]] || fail
  while [[ $(jq -r .state "$answer") == Running ]]; do
    ((SECONDS < deadline)) || exit 4
    status=$(call GET "/checks/$(jq -r .id "$answer")" --header 'Prefer: wait=300')
    [[ $status == 200 ]] || fail
  done
  [[ $(jq -r .state "$answer") == Complete ]] || { jq .error "$answer" >&2; exit 1; }
  if [[ $(jq -r .upToDate "$answer") == true ]]; then
    echo "Nothing to upgrade."
    exit 0
  fi
  [[ $(jq -r .report.blocked "$answer") == false ]] || blocked
}

# start starts the upgrade with the plan of the report. The server checks it again: 409 if the plan
# has changed.
start() {
  local body
  body=$(jq --argjson spec "$spec" '{spec: $spec, plan: .report.plan.hash}' "$answer")
  status=$(call POST /operations --header 'Content-Type: application/json' --header "Idempotency-Key: $REFIT_RUN" --data "$body")
  case $status in
    200 | 201) ;;
    409) if [[ $(jq -r .code "$answer") == blocked ]]; then blocked; else fail; fi ;;
    *) fail ;;
  esac
  name=$(jq -r .name "$answer")
  jq -r '"Started \(.name).", .notes[]' "$answer"
}

# follow waits for the end of the upgrade, with requests of a minute.
follow() {
  while ((SECONDS < deadline)); do
    status=$(call GET "/operations/$name?wait=ended&timeout=60s") || status=none
    case $status in
      200) ;;
      none) sleep 5; continue ;;                                     # the server restarts
      404) sleep 1; continue ;;                                      # it has not read the upgrade yet
      5??) jq -r '.detail // .title' "$answer"; sleep 5; continue ;; # the API server is down during its upgrade
      *) fail ;;
    esac
    jq -r '.operation | "\(.phase): \(.message // "") (\(.nodes.done) of \(.nodes.total) nodes)"' "$answer"
    if [[ $(jq -r .operation.ended "$answer") == true ]]; then
      [[ $(jq -r .operation.phase "$answer") == Succeeded ]] || exit 1
      exit 0
    fi
  done
  exit 4
}

# A run that was killed has started the upgrade already. The cluster has changed since, and so would
# its plan.
status=$(call GET /operations --get --data-urlencode "idempotencyKey=$REFIT_RUN")
[[ $status == 200 ]] || fail
name=$(jq -r '.operations[0].name // empty' "$answer")
if [[ -n $name ]]; then
  echo "Following $name, which this run has started."
else
  check
  start
fi
follow
