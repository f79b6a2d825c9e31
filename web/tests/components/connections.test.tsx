import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { LinkStrip } from '../../src/shell/link-strip.tsx'
import { OutageBanner } from '../../src/shell/outage-banner.tsx'
import { expectedOutage, stateOf, unexpectedOutage } from '../documents/cluster.ts'
import { running } from '../documents/operation.ts'
import { show } from './render.tsx'

const now = () => Date.now()
const live = { state: 'live' } as const

test('an expected outage is no alarm: which node and step, and when the agent rolls back', async () => {
  await show(<OutageBanner serve={live} state={expectedOutage(stateOf(running()))} now={now()} />)
  await expect.element(page.getByRole('heading', { name: /The API server is unreachable, as expected/ })).toBeVisible()
  await expect.element(page.getByText(/cp-2 is at swap-apiserver/)).toBeVisible()
  await expect.element(page.getByText(/rolls back by itself after 2:30 at the latest/)).toBeVisible()
  await expect.element(page.getByText(/agent, 1 s ago/)).toBeVisible()
  expect(document.querySelector('.pf-m-danger')).toBeNull()
})

test('an unexpected outage is an alarm, with the command to investigate', async () => {
  await show(<OutageBanner serve={live} state={unexpectedOutage(stateOf(running()))} now={now()} />)
  await expect.element(page.getByRole('heading', { name: /which is not part of the upgrade/ })).toBeVisible()
  await expect.element(page.getByRole('button', { name: /Copy the command crictl ps/ })).toBeVisible()
  await expect.element(page.getByText(/run on cp-1/)).toBeVisible()
  expect(document.querySelector('.pf-v6-c-alert.pf-m-danger')).not.toBeNull()
})

test('an outage that nobody has explained yet is not called expected', async () => {
  const state = stateOf()
  await show(<OutageBanner serve={live} state={{ ...state, apiServer: { reachable: false } }} now={now()} />)
  await expect.element(page.getByRole('heading', { name: 'The API server is unreachable' })).toBeVisible()
  expect(page.getByText(/expected/).elements()).toHaveLength(0)
})

test('a frozen server covers the state of the API server, which is unknown then', async () => {
  const state = expectedOutage(stateOf(running()))
  const frozen = { state: 'frozen', since: now() - 15_000 } as const
  await show(
    <>
      <LinkStrip links={{ serve: frozen, api: state.apiServer, agent: { connected: true, node: 'cp-1' } }} now={now()} />
      <OutageBanner serve={frozen} state={state} now={now()} />
    </>,
  )
  await expect.element(page.getByRole('heading', { name: /The server does not answer/ })).toBeVisible()
  await expect.element(page.getByText('no answer for 15 s')).toBeVisible()
  expect(page.getByText('unknown').elements()).toHaveLength(2)
  expect(page.getByText(/as expected/).elements()).toHaveLength(0)
})

test('a user without permission is not disconnected', async () => {
  const forbidden = { state: 'forbidden' } as const
  const { container } = await show(
    <>
      <LinkStrip links={{ serve: forbidden, api: undefined, agent: undefined }} now={now()} />
      <OutageBanner serve={forbidden} state={undefined} now={now()} />
    </>,
  )
  await expect.element(page.getByText('no permission')).toBeVisible()
  expect(container.querySelector('.pf-v6-c-alert')).toBeNull()
})

test('three connections are shown apart', async () => {
  const state = unexpectedOutage(stateOf())
  await show(<LinkStrip links={{ serve: live, api: state.apiServer, agent: { connected: true, node: 'cp-1' } }} now={now()} />)
  await expect.element(page.getByText('live')).toBeVisible()
  await expect.element(page.getByText('unreachable for 2:00')).toBeVisible()
  await expect.element(page.getByText('cp-1')).toBeVisible()
})

test('nothing is shown while everything is reachable', async () => {
  const { container } = await show(<OutageBanner serve={live} state={stateOf()} now={now()} />)
  expect(container.textContent).toBe('')
})
