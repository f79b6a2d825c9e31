import { stateOf, unexpectedOutage } from '../documents/cluster.ts'
import { running, stalled } from '../documents/operation.ts'
import { expect, test } from './fixture.ts'

/** The time at which the page first has a text: Playwright itself looks only from time to time. */
function firstTime(text: string): Promise<number> {
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (!document.body.innerText.includes(text)) return
      observer.disconnect()
      resolve(Date.now())
    })
    observer.observe(document.body, { childList: true, subtree: true, characterData: true })
  })
}

const upgrade = '/operations/to-v1-36-3'

test('a frozen server is shown within 12 s, and the page recovers by itself', async ({ page, replay }) => {
  const { server, url } = await replay('running')
  await page.goto(url + upgrade)
  await expect(page.getByText('live', { exact: true })).toBeVisible()
  const appeared = page.evaluate(firstTime, 'The server does not answer')
  server.frozen = true
  const since = Date.now()
  const shown = (await appeared - since) / 1000
  console.log(`figure web_frozen_server_shown ${shown.toFixed(1)} s`)
  expect(shown).toBeLessThanOrEqual(12)
  await expect(page.getByText(/not updated for \d+ s/).first()).toBeVisible()
  server.frozen = false
  await expect(page.getByRole('heading', { name: /The server does not answer/ })).toBeHidden()
  await expect(page.getByText('live', { exact: true })).toBeVisible()
})

test('a broken connection resumes after the last event', async ({ page, replay }) => {
  const { server, url } = await replay('running')
  await page.goto(url + upgrade)
  await expect(page.getByText('live', { exact: true })).toBeVisible()
  const before = server.requests.length
  server.disconnect()
  await expect.poll(() => server.lastEventIDs.length).toBe(1)
  await expect(page.getByText('live', { exact: true })).toBeVisible()
  expect(server.lastEventIDs[0]).toMatch(/^boot\.\d+$/)
  expect(server.requests.slice(before).filter((request) => request.includes('/state'))).toEqual([])
})

test('a changed phase is shown and announced', async ({ page, replay }) => {
  const { server, url } = await replay('running')
  await page.goto(url + upgrade)
  await expect(page.getByRole('heading', { name: /Upgrading cp-2/ })).toBeVisible()
  server.setState(stateOf(stalled()))
  await expect(page.getByRole('heading', { name: /worker-1 failed at swap-kubelet/ })).toBeVisible()
  await expect(page.locator('.pf-v6-screen-reader[role=status]').filter({ hasText: 'to-v1-36-3: Stalled, action required. worker-1 failed' })).toHaveCount(1)
  await expect(page).toHaveTitle(/^Stalled, action required · Upgrade of prod/)
})

test('an outage of the API server is not one of the server', async ({ page, replay }) => {
  const { server, url } = await replay('running')
  await page.goto(url + upgrade)
  await expect(page.getByText('answers', { exact: true })).toBeVisible()
  server.setState(unexpectedOutage(stateOf(running())))
  await expect(page.getByRole('heading', { name: /which is not part of the upgrade/ })).toBeVisible()
  await expect(page.getByText('live', { exact: true })).toBeVisible()
  await expect(page.getByText(/last known, \d+ min ago/).first()).toBeVisible()
  server.setState(stateOf(running()))
  await expect(page.getByRole('heading', { name: /which is not part of the upgrade/ })).toBeHidden()
  await expect(page.getByText(/last known/)).toHaveCount(0)
})

test('a pause is accepted, and the page follows', async ({ page, replay }) => {
  const { server, url } = await replay('running')
  await page.goto(url + upgrade)
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await expect(page.getByText('Pause was accepted')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Resume', exact: true })).toBeVisible()
  expect(server.requests).toContain('POST /api/v1alpha1/operations/to-v1-36-3/pause')
})
