import type { Operation, State } from '../../src/api/documents.ts'
import { expectedOutage, history, manyHops, stateOf, unexpectedOutage } from '../documents/cluster.ts'
import { audit } from '../documents/audit.ts'
import { activeNode, blockedNode, failedNode, rowsOf } from '../documents/nodes.ts'
import { aborted, awaitingApproval, drainBlocked, large, paused, running, stalled, succeeded } from '../documents/operation.ts'
import type { Scene } from '../server/replay.ts'

function scene(operation: Operation | undefined, change: (state: State) => State = (state) => state): Scene {
  const state = change(stateOf(operation))
  const blocked = operation?.reason === 'DrainBlocked'
  return { state, history: history(operation), rows: operation ? rowsOf(operation) : [], explanations: [blocked ? blockedNode() : failedNode(), activeNode()], operator: true }
}

/** The situations in which pages are checked. */
export const scenes = {
  idle: () => scene(undefined),
  running: () => scene(running()),
  stalled: () => scene(stalled()),
  drainBlocked: () => scene(drainBlocked()),
  awaitingApproval: () => scene(awaitingApproval()),
  paused: () => scene(paused()),
  succeeded: () => scene(succeeded()),
  aborted: () => ({ ...scene(aborted()), audit: audit() }),
  large: () => scene(large()),
  outageExpected: () => scene(running(), expectedOutage),
  outageUnexpected: () => scene(running(), unexpectedOutage),
  viewer: () => ({ ...scene(running()), operator: false }),
  idleViewer: () => ({ ...scene(undefined), operator: false }),
  idleOperator: () => ({ ...scene(undefined), approver: false }),
  hops: () => scene(undefined, (state) => ({ ...state, releases: [...manyHops, ...state.releases] })),
  noReleases: () => scene(undefined, (state) => ({ ...state, releases: [] })),
  idleOutage: () => scene(undefined, unexpectedOutage),
} satisfies Record<string, () => Scene>
