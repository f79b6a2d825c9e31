import type { Page } from '@playwright/test'

/** What does not fit: the page is wider than the window, or an element is cut off. */
export function overflowOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const name = (element: Element) => `${element.tagName.toLowerCase()}.${element.className.toString().split(' ')[0]} "${element.textContent?.slice(0, 40)}"`
    const found: string[] = []
    if (document.documentElement.scrollWidth > window.innerWidth) found.push(`the page is ${document.documentElement.scrollWidth} px wide`)
    for (const element of document.body.querySelectorAll('*')) {
      const style = getComputedStyle(element)
      const box = element.getBoundingClientRect()
      if (box.width <= 1 || box.height <= 1 || style.visibility === 'hidden' || element.closest('.pf-v6-screen-reader, .pf-v6-c-skip-to-content, svg')) continue
      if (box.right > window.innerWidth + 1 || box.left < -1) found.push(`outside: ${name(element)}`)
      const clips = style.overflowX !== 'visible' && style.textOverflow !== 'ellipsis'
      if (clips && element.scrollWidth > element.clientWidth + 1 && !element.matches('input')) found.push(`cut off: ${name(element)}`)
      if (style.textOverflow === 'ellipsis' && element.scrollWidth > element.clientWidth + 1 && !element.hasAttribute('title')) found.push(`shortened: ${name(element)}`)
    }
    return found
  })
}
