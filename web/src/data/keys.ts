export interface NodeFilter {
  states: string[]
  text: string
  /** The token of the page; empty for the first one. */
  after: string
}

/** The keys of the cache. */
export const keys = {
  state: ['state'] as const,
  me: ['me'] as const,
  signInWays: ['sign-in-ways'] as const,
  operations: ['operations'] as const,
  operation: (name: string) => ['operation', name] as const,
  check: (id: string) => ['check', id] as const,
  manifest: (check: string) => ['manifest', check] as const,
  config: (release: string) => ['config', release] as const,
  bundle: (id: string) => ['support-bundle', id] as const,
  audit: ['audit'] as const,
  allNodes: ['nodes'] as const,
  nodes: (operation: string, filter: NodeFilter) => ['nodes', operation, filter] as const,
  allExplanations: ['explanation'] as const,
  explanation: (node: string) => ['explanation', node] as const,
}
