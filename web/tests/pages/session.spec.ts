import { expect, test } from './fixture.ts'

test('a one-time code signs in, and leaves the address', async ({ page, replay }) => {
  const { server, url } = await replay('running')
  server.signedIn = false
  server.code = 'one-time'
  await page.goto(`${url}/nodes/worker-1#code=one-time`)
  await expect(page.getByRole('heading', { name: 'Node worker-1' })).toBeVisible()
  expect(page.url()).toBe(`${url}/nodes/worker-1`)
  expect(server.requests.filter((request) => request.includes('one-time'))).toEqual([])
})

test('a used code explains itself, and a token signs in', async ({ page, replay }) => {
  const { server, url } = await replay('running')
  server.signedIn = false
  await page.goto(`${url}/#code=used`)
  await expect(page.getByText('The one-time code is not valid any more')).toBeVisible()
  expect(page.url()).toBe(`${url}/sign-in`)
  await page.getByRole('textbox', { name: 'Token' }).fill('wrong')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByText('The sign-in failed')).toBeVisible()
  await expect(page.getByText('The API server rejects this token.')).toBeVisible()
  await expect(page.getByText('The one-time code is not valid any more')).toBeHidden()
  await page.getByRole('textbox', { name: 'Token' }).fill('valid')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'Cluster prod' })).toBeVisible()
})

test('a session that ends leaves the page as it is, and a sign-in continues it', async ({ page, replay }) => {
  const { server, url } = await replay('large')
  await page.goto(`${url}/operations/to-v1-36-3`)
  await page.getByRole('textbox', { name: 'Name contains' }).fill('worker-12')
  await expect(page.getByText('111 nodes match')).toBeVisible()
  server.signedIn = false
  server.disconnect()
  await expect(page.getByRole('heading', { name: /Your session has ended/ })).toBeVisible()
  await expect(page.getByText('111 nodes match')).toBeVisible()
  await expect(page.getByText('signed out', { exact: true })).toBeVisible()
  await expect(page.getByText(/not updated for \d+ s/).first()).toBeVisible()
  await page.getByRole('button', { name: 'Sign in again' }).click()
  await page.getByRole('textbox', { name: 'Token' }).fill('valid')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByRole('heading', { name: /Your session has ended/ })).toBeHidden()
  await expect(page.getByRole('textbox', { name: 'Name contains' })).toHaveValue('worker-12')
  await expect(page.getByText('live', { exact: true })).toBeVisible()
})

test('the token is kept nowhere in the browser', async ({ page, replay }) => {
  const { server, url } = await replay('idle')
  server.signedIn = false
  await page.goto(url)
  await page.getByRole('textbox', { name: 'Token' }).fill('valid')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'Cluster prod' })).toBeVisible()
  expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, location.href]))).not.toContain('valid')
})

test('the issuer signs in, and returns to the page', async ({ page, replay }) => {
  const { server, url } = await replay('running')
  server.signedIn = false
  server.issuer = 'https://dex.example.com/dex'
  await page.goto(`${url}/nodes/worker-1`)
  await page.getByRole('link', { name: 'Sign in at dex.example.com' }).click()
  await expect(page.getByRole('heading', { name: 'Node worker-1' })).toBeVisible()
  expect(page.url()).toBe(`${url}/nodes/worker-1`)
})

test('a sign-in that failed at the issuer explains itself, and shows no text of the address', async ({ page, replay }) => {
  const { server, url } = await replay('running')
  server.signedIn = false
  server.issuer = 'https://dex.example.com/dex'
  await page.goto(`${url}/sign-in?failed=unauthenticated&from=/nodes/worker-1`)
  await expect(page.getByText('The API server does not accept the token of the issuer.')).toBeVisible()
  await page.getByRole('textbox', { name: 'Token' }).fill('valid')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'Node worker-1' })).toBeVisible()
  server.signedIn = false
  await page.goto(`${url}/sign-in?failed=call+this+number&from=//evil.example.com`)
  await expect(page.getByText('The sign-in at the issuer failed')).toBeVisible()
  await expect(page.getByText('call this number')).toHaveCount(0)
  await expect(page.getByRole('link', { name: 'Sign in at dex.example.com' })).toHaveAttribute('href', '/api/v1alpha1/session/oidc?from=%2F')
})
