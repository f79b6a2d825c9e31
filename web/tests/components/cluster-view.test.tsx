import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { ClusterView } from '../../src/pages/cluster/cluster-view.tsx'
import { skewOf } from '../../src/pages/cluster/skew.ts'
import { history, stateOf } from '../documents/cluster.ts'
import { running } from '../documents/operation.ts'
import { ago } from '../documents/time.ts'
import { show } from './render.tsx'

const operations = (list = history()) => ({ cluster: 'prod', source: 'api' as const, observedAt: ago(0), operations: list })

test('a cluster shows how many nodes run each version, and how far they are apart', async () => {
  await show(<ClusterView state={stateOf(running())} operations={operations(history(running()))} />)
  const versions = page.getByRole('region', { name: 'Versions' })
  await expect.element(versions.getByText('4 of 5')).toBeVisible()
  await expect.element(versions.getByText('The kubelets differ by 1 minor version: v1.35.4 to v1.36.3.')).toBeVisible()
})

test('a cluster without an upgrade shows the command that checks what one needs', async () => {
  const state = stateOf()
  await show(<ClusterView state={state} operations={operations()} />)
  await expect.element(page.getByText('refit check', { exact: true })).toBeVisible()
})

test('agents that are missing and controllers that do not lead are visible', async () => {
  const state = stateOf(running())
  delete state.leader
  await show(<ClusterView state={{ ...state, nodes: { ...state.nodes, agents: 3, ready: 4 } }} operations={operations()} />)
  await expect.element(page.getByText('2 without an agent')).toBeVisible()
  await expect.element(page.getByText('No controller leads. Upgrades do not proceed.')).toBeVisible()
})

test('what could not be read is reported, not left out', async () => {
  await show(<ClusterView state={{ ...stateOf(), unread: [{ part: 'nodereports', message: 'forbidden' }] }} operations={operations()} />)
  await expect.element(page.getByRole('heading', { name: /nodereports could not be read/ })).toBeVisible()
})

test('versions are compared by number, and unknown ones come last', () => {
  const versions = ['v1.9.1', 'v1.10.0', ''].map((kubelet) => ({ kubelet, nodes: 1 }))
  expect(skewOf(versions)).toEqual({ sorted: [{ kubelet: 'v1.10.0', nodes: 1 }, { kubelet: 'v1.9.1', nodes: 1 }, { kubelet: '', nodes: 1 }], minors: 1 })
})
