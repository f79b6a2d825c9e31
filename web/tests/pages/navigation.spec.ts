import { expect, test } from './fixture.ts'

test('of 5,000 nodes a page at a time is rendered, and the address has the filter', async ({ page, replay }) => {
  const { server, url } = await replay('large')
  await page.goto(`${url}/operations/to-v1-36-3?state=Waiting`)
  await expect(page.getByText('3,957 nodes match')).toBeVisible()
  expect(await page.locator('tbody tr').count()).toBe(50)
  const first = await page.locator('tbody tr').first().innerText()
  await page.getByRole('button', { name: 'Next page' }).click()
  await expect(page.locator('tbody tr').first()).not.toHaveText(first)
  expect(page.url()).toContain('after=')
  await page.getByRole('button', { name: 'Previous page' }).click()
  await expect(page).toHaveURL(/\?state=Waiting$/)
  await page.getByRole('textbox', { name: 'Name contains' }).fill('worker-4999')
  await expect(page).toHaveURL(/q=worker-4999/)
  await page.goBack()
  expect(server.requests.every((request) => !request.includes('limit=1000'))).toBe(true)
})

test('the keyboard reaches the content first, and a new page has the focus on its title', async ({ page, replay }) => {
  const { url } = await replay('running')
  await page.goto(url)
  await expect(page.getByRole('heading', { name: 'Cluster prod' })).toBeVisible()
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused()
  await page.getByRole('link', { name: 'Upgrade of prod from v1.35.4 to v1.36.3' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  await expect(page).toHaveTitle(/^Running · Upgrade of prod/)
})

test('the abort dialog keeps the focus, and returns it', async ({ page, replay }) => {
  const { url } = await replay('running')
  await page.goto(`${url}/operations/to-v1-36-3`)
  const abort = page.getByRole('button', { name: 'Abort', exact: true })
  await abort.click()
  await expect(page.getByRole('textbox', { name: /Type to-v1-36-3/ })).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
  await expect(abort).toBeFocused()
})

test('a chosen theme stays, whatever the system prefers', async ({ page, replay }) => {
  const { url } = await replay('idle')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(url)
  await page.getByRole('button', { name: 'Switch to the dark theme' }).click()
  await expect(page.locator('html')).toHaveClass(/pf-v6-theme-dark/)
  await page.reload()
  await expect(page.getByRole('button', { name: 'Switch to the light theme' })).toBeVisible()
})

test('a node that does not exist is an error with a way on', async ({ page, replay }) => {
  const { url } = await replay('idle')
  await page.goto(`${url}/nodes/other`)
  await expect(page.getByRole('heading', { name: /There is no node other/ })).toBeVisible()
  await page.getByRole('link', { name: /Cluster/ }).click()
  await expect(page.getByRole('heading', { name: 'Cluster prod' })).toBeVisible()
})
