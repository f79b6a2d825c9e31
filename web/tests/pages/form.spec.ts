import type { Page } from '@playwright/test'
import { form } from '../documents/form.ts'
import type { Replay } from '../server/replay.ts'
import { expect, test } from './fixture.ts'

async function configure(page: Page, url: string, server: Replay, filledIn = form) {
  server.configs.form = filledIn
  await page.goto(`${url}/upgrade/welcome?release=kubernetes-v1.36.3`)
  await page.getByRole('button', { name: 'Next: configuration' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Configure the upgrade' })).toBeVisible()
}

const save = 'Save the answers'

test('the form of a publisher is filled in with the keyboard, and its conditions follow', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  await configure(page, url, server)
  const host = page.getByRole('textbox', { name: 'Host name' })
  await expect(host).toHaveAccessibleDescription(/A DNS record must point/)
  await expect(page.getByRole('textbox', { name: 'Replicas' })).toHaveValue('2')
  await expect(page.getByLabel(/Password of the database/)).toHaveCount(0)
  await page.getByRole('checkbox', { name: 'Use HTTPS' }).focus()
  await page.keyboard.press('Space')
  const password = page.getByLabel(/Password of the database/)
  await expect(password).toHaveAttribute('type', 'password')
  await host.fill('UPPER')
  await expect(host).toHaveAccessibleDescription(/must match the pattern/)
  await host.fill('shop.example.com')
  await expect(host).not.toHaveAccessibleDescription(/must match/)
  await page.getByRole('textbox', { name: 'Replicas' }).fill('3')
  await page.getByLabel('Size').selectOption({ label: 'Large' })
  await password.fill('canary-password')
  await expect(page.getByText('The answers are not saved yet.')).toBeVisible()
  await password.press('Enter') // as in any form
  await expect(page.getByText(/The answers are saved/)).toBeVisible()
  expect(server.configs.saved).toEqual([{ tls: true, host: 'shop.example.com', replicas: 3, size: 'l', password: 'canary-password' }])
  await expect(password).toHaveValue('')
  await expect(password).toHaveAccessibleDescription(/A password is stored/)
  await page.reload()
  await expect(host).toHaveValue('shop.example.com')
  await page.getByRole('textbox', { name: 'Replicas' }).fill('4')
  await page.getByRole('button', { name: save }).click() // the password stays
  await expect.poll(() => server.configs.saved.length).toBe(2)
  expect(server.configs.saved[1]).toEqual({ tls: true, host: 'shop.example.com', replicas: 4, size: 'l' })
  const kept = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
  expect(kept).not.toContain('canary-password')
  await page.getByRole('button', { name: 'Check the cluster' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Preflight checks' })).toBeVisible()
})

test('an item may have the name of a property that every object has', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  await configure(page, url, server, {
    groups: [{ name: 'access', title: 'Access', items: [{ name: 'constructor', title: 'Builder', type: 'Text', default: 'kaniko' }] }],
  })
  await expect(page.getByRole('textbox', { name: 'Builder' })).toHaveValue('kaniko')
})

test('what is typed is evaluated after a pause, and not for each key', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  await configure(page, url, server)
  await page.getByRole('textbox', { name: 'Host name' }).pressSequentially('shop.example.com', { delay: 5 })
  await expect.poll(() => server.configs.rendered.at(-1)?.['host']).toBe('shop.example.com')
  expect(server.configs.rendered.length).toBeLessThan(8)
})

test('invalid answers are named at their items, and the summary leads to them', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  await configure(page, url, server)
  await page.getByRole('textbox', { name: 'Replicas' }).fill('many')
  await page.getByRole('button', { name: save }).click()
  await expect(page.getByRole('heading', { name: /2 fields are invalid/ })).toBeVisible()
  await expect(page.getByRole('textbox', { name: 'Replicas' })).toHaveAccessibleDescription(/must be a number/)
  await page.getByRole('button', { name: 'Access: Host name' }).click()
  await expect(page.getByRole('textbox', { name: 'Host name' })).toBeFocused()
  expect(server.configs.saved).toEqual([])
})

test('the answers of another user are not overwritten', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  await configure(page, url, server)
  await page.getByRole('textbox', { name: 'Host name' }).fill('mine.test')
  server.configs.overwrite({ host: 'theirs.test' })
  await page.getByRole('button', { name: save }).click()
  await expect(page.getByText('Somebody else has saved the form after it was read.')).toBeVisible()
  await expect(page.getByRole('textbox', { name: 'Host name' })).toHaveValue('mine.test')
  await page.getByRole('button', { name: /read the saved ones/ }).click()
  await expect(page.getByRole('textbox', { name: 'Host name' })).toHaveValue('theirs.test')
  await page.getByRole('textbox', { name: 'Host name' }).fill('both.test')
  await page.getByRole('button', { name: save }).click()
  await expect(page.getByText(/The answers are saved/)).toBeVisible()
})

test('without the permission, the upgrade can be prepared all the same', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  server.configs.forbidden = 'secrets "refit-form" is forbidden: User "jane" cannot get resource "secrets"'
  await configure(page, url, server)
  await expect(page.getByRole('heading', { name: /form of the publisher cannot be filled in/ })).toBeVisible()
  await expect(page.getByText(/ClusterRole refit-component-editor/)).toBeVisible()
  await page.getByRole('button', { name: 'Check the cluster' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Preflight checks' })).toBeVisible()
})
