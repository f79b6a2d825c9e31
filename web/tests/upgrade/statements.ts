import type { Page } from '@playwright/test'

/** What the page states at one moment. test/e2e/serve compares it with the truth. */
export interface Statements {
  at: string
  /** The texts of the three connections. */
  serve: string
  api: string
  agent: string
  /** The heading and the first sentence of the banner about an outage. */
  banner: string
  explanation: string
  title: string
  phase: string
  /** The ages that panels show because their data is not current. */
  ages: string[]
}

/** Reads the page at one moment: nothing on it can change in between. */
export async function statements(page: Page): Promise<Statements> {
  return page.evaluate(() => {
    const text = (selector: string) => document.querySelector(selector)?.textContent.trim() ?? ''
    const links = [...document.querySelectorAll('.refit-links dd')].map((element) => element.textContent.trim())
    return {
      at: new Date().toISOString(), serve: links[0] ?? '', api: links[1] ?? '', agent: links[2] ?? '',
      banner: text('.refit-banners h2'), explanation: text('.refit-banners p'), title: text('h1'), phase: text('.refit-phase'),
      ages: [...document.querySelectorAll('.refit-age')].map((element) => element.textContent.trim()),
    }
  })
}
