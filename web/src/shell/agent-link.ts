import type { State } from '../api/documents.ts'
import type { AgentLink } from './link-strip.tsx'

/** The connection of the server to the agent on its host, if the host has one. */
export function agentOf(state: State | undefined): AgentLink | undefined {
  const agent = state?.agent
  return agent && { connected: agent.connected, node: agent.status?.node }
}
