import type { Operation, State } from '../../src/api/documents.ts'
import { expectedOutage, history, manyHops, stateOf, unexpectedOutage, withoutRefit } from '../documents/cluster.ts'
import { audit, quietAudit } from '../documents/audit.ts'
import { activeNode, blockedNode, failedNode, idleRows, newRows, rowsOf } from '../documents/nodes.ts'
import { aborted, abortedComponents, awaitingApproval, drainBlocked, large, paused, planChanged, running, stalled, succeeded } from '../documents/operation.ts'
import type { Scene } from '../server/replay.ts'

function scene(operation: Operation | undefined, change: (state: State) => State = (state) => state): Scene {
  const state = change(stateOf(operation))
  const blocked = operation?.reason === 'DrainBlocked'
  return { state, history: history(operation), rows: operation ? rowsOf(operation) : idleRows('to-v1-35-4'), explanations: [blocked ? blockedNode() : failedNode(), activeNode()], operator: true }
}

/** The situations in which pages are checked. */
export const scenes = {
  idle: () => scene(undefined),
  running: () => scene(running()),
  stalled: () => scene(stalled()),
  drainBlocked: () => scene(drainBlocked()),
  awaitingApproval: () => scene(awaitingApproval()),
  awaitingApprovalOperator: () => ({ ...scene(awaitingApproval()), approver: false }),
  planChanged: () => scene(planChanged()),
  paused: () => scene(paused()),
  succeeded: () => ({ ...scene(succeeded()), audit: quietAudit() }),
  aborted: () => ({ ...scene(aborted()), audit: audit() }),
  abortedComponents: () => ({ ...scene(abortedComponents()), rows: idleRows('to-v1-36-3') }),
  large: () => scene(large()),
  outageExpected: () => scene(running(), expectedOutage),
  outageUnexpected: () => scene(running(), unexpectedOutage),
  viewer: () => ({ ...scene(running()), operator: false }),
  idleViewer: () => ({ ...scene(undefined), operator: false }),
  idleOperator: () => ({ ...scene(undefined), approver: false }),
  hops: () => scene(undefined, (state) => ({ ...state, releases: [...manyHops, ...state.releases] })),
  noReleases: () => scene(undefined, (state) => ({ ...state, releases: [] })),
  fresh: () => ({ ...scene(undefined, (state) => ({ ...state, releases: [], operations: 0 })), history: [], rows: newRows() }),
  notInstalled: () => ({ ...scene(undefined, withoutRefit), history: [], rows: newRows(false) }),
  idleOutage: () => scene(undefined, unexpectedOutage),
} satisfies Record<string, () => Scene>
