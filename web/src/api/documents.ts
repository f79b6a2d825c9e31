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
export type ClusterUpgradeSpec = Schemas['ClusterUpgradeSpec']
export type PoolSpec = Schemas['PoolSpec']
export type WaiverSpec = Schemas['WaiverSpec']
/** The state has the operation without its spec. */
export type OperationAnswer = Omit<Schemas['OperationAnswer'], 'spec'> & { spec?: ClusterUpgradeSpec }
export type OperationList = Schemas['OperationList']
export type PastOperation = Schemas['PastOperation']
export type StageProgress = Schemas['StageProgress']
export type NodeProgress = Schemas['NodeProgress']
export type NodeFailure = Schemas['NodeFailure']
export type Wait = Schemas['Wait']
export type Blocker = Schemas['Blocker']
export type ListedRelease = Schemas['ListedRelease']
export type AddedRelease = Schemas['AddedRelease']
export type Check = Schemas['Check']
export type Report = Schemas['Report']
export type Finding = Schemas['Finding']
export type Plan = Schemas['Plan']
export type PlanStage = Schemas['Stage']
export type PlanNode = Schemas['Node']
export type StartedOperation = Schemas['StartedOperation']
export type SupportBundle = Schemas['SupportBundle']
export type BundlePart = Schemas['BundlePart']
export type Config = Schemas['Config']
export type RenderedConfig = Schemas['RenderedConfig']
export type FormGroup = Schemas['FormGroup']
export type FormItem = Schemas['FormItem']
export type Answers = Schemas['Answers']
export type AuditList = Schemas['AuditList']
export type Problem = Schemas['Problem']
export type FieldError = Schemas['FieldError']
export type Me = Schemas['Me']
export type SignInWays = Schemas['SignInWays']
export type Change = Schemas['Change']

/** Where data comes from, and the time of which it is true. */
export interface Observed {
  source: Source
  observedAt: string
}
