import type { Page } from '@playwright/test'
import { changedReport } from '../documents/checks.ts'
import { changedHash, planHash } from '../documents/operation.ts'
import { expect, test } from './fixture.ts'

const upgrade = '/operations/to-v1-36-3'
const approval = (page: Page) => page.getByRole('region', { name: 'Approval' })

test('an approver sees the plan, and approves it by its hash', async ({ page, replay }) => {
  const { server, url } = await replay('awaitingApproval')
  await page.goto(url + upgrade)
  await expect(approval(page).getByText(planHash, { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Show the plan' }).click()
  await expect(approval(page).getByText('3 control plane nodes, 5 workers')).toBeVisible()
  await page.getByRole('button', { name: 'Approve this plan' }).click()
  await expect(approval(page).getByText('approve to-v1-36-3: accepted.')).toBeVisible()
  expect(server.requests).toContain('POST /api/v1alpha1/operations/to-v1-36-3/approve')
})

test('a plan that changed in the meantime is not approved, and the new one is shown with what is different', async ({ page, replay }) => {
  const { server, url } = await replay('awaitingApproval')
  await page.goto(url + upgrade)
  await page.getByRole('button', { name: 'Show the plan' }).click()
  await expect(approval(page).getByText('3 control plane nodes, 5 workers')).toBeVisible()
  const { operation } = server.scene.state
  if (operation) server.scene.state = { ...server.scene.state, operation: { ...operation, plan: changedHash } } // without an event
  server.checks.report = changedReport()
  await page.getByRole('button', { name: 'Approve this plan' }).click()
  await expect(page.getByRole('heading', { name: /The plan changed: nothing was approved/ })).toBeVisible()
  await expect(approval(page).getByText('New in the plan: worker-6')).toBeVisible()
  await expect(approval(page).getByText('3 control plane nodes, 6 workers')).toBeVisible()
  await expect(approval(page).getByText(changedHash, { exact: true }).first()).toBeVisible()
  await page.getByRole('button', { name: 'Approve this plan' }).click()
  await expect(approval(page).getByText('approve to-v1-36-3: accepted.')).toBeVisible()
})

test('an upgrade whose plan changed shows both hashes, and that the differences are unknown to another browser', async ({ page, replay }) => {
  const { server, url } = await replay('planChanged')
  server.checks.report = changedReport()
  await page.goto(url + upgrade)
  await expect(approval(page).getByText(changedHash, { exact: true })).toBeVisible()
  await expect(approval(page).getByText(planHash, { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Show the plan' }).click()
  await expect(approval(page).getByText(/the differences are unknown/)).toBeVisible()
  await expect(approval(page).getByText('3 control plane nodes, 6 workers')).toBeVisible()
})

test('a plan that no longer fits the cluster is marked', async ({ page, replay }) => {
  const { server, url } = await replay('awaitingApproval')
  server.checks.report = changedReport()
  await page.goto(url + upgrade)
  await page.getByRole('button', { name: 'Show the plan' }).click()
  await expect(page.getByRole('heading', { name: /The cluster has changed since this plan was made/ })).toBeVisible()
})

test('who may not approve reads which permission is missing', async ({ page, replay }) => {
  const { url } = await replay('awaitingApprovalOperator')
  await page.goto(url + upgrade)
  await expect(page.getByRole('button', { name: 'Approve this plan' })).toHaveAttribute('aria-disabled', 'true')
  await expect(approval(page).getByText('You do not have the permission: approve clusterupgrades.refit.dev.')).toBeVisible()
})
