import type { components } from './schema.ts'

type Schemas = components['schemas']

export type Source = Schemas['Source']
export type State = Schemas['State']
export type APIServer = Schemas['APIServer']
export type Outage = Schemas['Outage']
export type Hello = Schemas['Hello']
export type Heartbeat = Schemas['Heartbeat']
export type NodeChanges = Schemas['NodeChanges']
export type NodePage = Schemas['NodePage']
export type NodeRow = Schemas['NodeRow']
export type NodeAnswer = Schemas['NodeAnswer']
export type Explanation = Schemas['Explanation']
export type ExplainStep = Schemas['ExplainStep']
export type ExplainError = Schemas['ExplainError']
export type Operation = Schemas['Operation']
export type OperationAnswer = Schemas['OperationAnswer']
export type OperationList = Schemas['OperationList']
export type PastOperation = Schemas['PastOperation']
export type StageProgress = Schemas['StageProgress']
export type NodeProgress = Schemas['NodeProgress']
export type NodeFailure = Schemas['NodeFailure']
export type Wait = Schemas['Wait']
export type Blocker = Schemas['Blocker']
export type ListedRelease = Schemas['ListedRelease']
export type Problem = Schemas['Problem']
export type Me = Schemas['Me']
export type Change = Schemas['Change']

/** Where data comes from, and the time of which it is true. */
export interface Observed {
  source: Source
  observedAt: string
}
