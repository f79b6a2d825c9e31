import type { QueryClient } from '@tanstack/react-query'
import type {
  APIServer, Heartbeat, Hello, NodeAnswer, NodeChanges, NodePage, Observed, OperationAnswer, State,
} from '../api/documents.ts'
import { keys } from '../data/keys.ts'
import { setServerTime } from './clock.ts'
import { heartbeat } from './links.ts'
import type { EventType } from './stream.ts'
import { throttled } from './throttle.ts'

/** Returns what applies the events of the server to the cache. */
export function eventHandler(cache: QueryClient) {
  const readNodesAgain = throttled(() => void cache.invalidateQueries({ queryKey: keys.allNodes }), 2000)
  const readNodeAgain = throttled(() => void cache.invalidateQueries({ queryKey: keys.allExplanations }), 1000)
  const readOperationsAgain = throttled(() => void cache.invalidateQueries({ queryKey: keys.operations }), 1000)

  // Everything that the page shows is as fresh as the state, before the next heartbeat says so.
  const applySource = ({ source, observedAt }: Observed) => {
    const beat = heartbeat.get()
    if (beat && beat.source !== source) heartbeat.set({ ...beat, source, observedAt })
  }
  const applyState = (state: State) => {
    applySource(state)
    const before = cache.getQueryData<State>(keys.state)
    cache.setQueryData(keys.state, state)
    if (state.operation !== undefined) applyOperation({ source: state.source, observedAt: state.observedAt, operation: state.operation })
    if (before?.operations !== state.operations) readOperationsAgain()
  }
  const applyOperation = (answer: OperationAnswer) => {
    const { operation } = answer
    const key = keys.operation(operation.name)
    const before = cache.getQueryData<OperationAnswer>(key)
    const spec = answer.spec ?? before?.spec
    cache.setQueryData<OperationAnswer>(key, { ...answer, ...(spec && { spec }) })
    cache.setQueryData<State>(keys.state, (state) => state?.operation?.name === operation.name ? { ...state, operation } : state)
    if (before?.operation.phase !== operation.phase) readOperationsAgain()
  }
  const applyNodes = (changes: NodeChanges) => {
    const changed = new Map(changes.changed.map((row) => [row.node, row]))
    cache.setQueriesData<NodePage>({ queryKey: keys.allNodes }, (page) => page && page.operation === changes.operation
      ? { ...page, nodes: page.nodes.map((row) => changed.get(row.node) ?? row) }
      : page)
    readNodesAgain() // a row may have left a filter, or have come into it
    const shown = cache.getQueriesData<NodeAnswer>({ queryKey: keys.allExplanations })
    if (shown.some(([, answer]) => answer && changed.has(answer.explanation.node))) readNodeAgain()
  }

  const applyAPI = (apiServer: APIServer) => {
    const beat = heartbeat.get()
    if (!apiServer.reachable && beat) applySource({ source: 'last-known', observedAt: beat.observedAt })
    cache.setQueryData<State>(keys.state, (state) => state && { ...state, apiServer })
  }

  return (type: EventType, data: unknown) => {
    switch (type) {
      case 'hello':
        if (!(data as Hello).resumed) void cache.invalidateQueries({ predicate: (query) => query.queryKey[0] !== keys.state[0] })
        return
      case 'state':
        return applyState(data as State)
      case 'operation':
        return applyOperation(data as OperationAnswer)
      case 'nodes':
        return applyNodes(data as NodeChanges)
      case 'api':
        return applyAPI(data as APIServer)
      case 'heartbeat':
        setServerTime((data as Heartbeat).now)
        heartbeat.set(data as Heartbeat)
    }
  }
}
