import { readFileSync } from 'node:fs'
import { expect, type Page, test } from 'playwright/test'
import { violations } from '../accessible/axe.ts'
import { watched } from '../page/browser.ts'
import { finish, quickPage } from '../page/playground-page.ts'

let trouble: () => Promise<string[]>

test.beforeEach(async ({ page }) => {
  trouble = watched(page)
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.addInitScript(() => {
    const open = window.open.bind(window)
    window.open = (...given) => {
      Reflect.set(window, 'lastOpened', given[0])
      return open(...given)
    }
  })
  await page.goto(quickPage)
})

test.afterEach(async () => expect(await trouble()).toEqual([]))

const sources = (page: Page) => page.getByTestId('sources').last()

test('cites pages of a PDF, also after a reload', async ({ page }) => {
  await finish(page, 'A PDF with page citations')
  for (const _visit of ['first', 'reloaded']) {
    await expect(page.getByTestId('message-user').getByTestId('media')).toContainText('fram-handbook.pdf')
    await expect(sources(page)).toContainText('page 2, page 3')
    await expect(page.getByTestId('message-assistant').locator('a.cite')).toHaveText(['1', '1'])
    await expect(sources(page).getByRole('button')).toHaveText(['page 2', 'page 3'])
    for (const [at, place] of ['page=2', 'page=3'].entries()) {
      const opening = page.context().waitForEvent('page')
      await page.locator('a.cite').nth(at).click()
      await (await opening).close()
      // A browser without a viewer has no address for what it opens: what the page asked for is looked at.
      expect(await page.evaluate(() => Reflect.get(window, 'lastOpened'))).toMatch(new RegExp(`^blob:.*#${place}$`))
    }
    await expect(sources(page).getByRole('listitem')).toBeFocused()
    await page.reload()
  }
  await expect(page.getByRole('main')).toBeVisible()
  expect(await violations(page)).toEqual([])
})

test('saves a file with its original content', async ({ page }) => {
  await finish(page, 'A PDF with page citations')
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download fram-handbook.pdf' }).click()
  const saved = await saving
  expect(saved.suggestedFilename()).toBe('fram-handbook.pdf')
  expect(readFileSync(await saved.path(), 'latin1')).toMatch(/^%PDF-1\.4\n.*%%EOF\n$/s)
})

test('shows the progress and results of a hosted search', async ({ page }) => {
  await finish(page, 'Provider search')
  const tool = page.getByTestId('service-tool')
  await expect(tool).toHaveAttribute('data-status', 'done')
  await tool.locator('summary').click()
  await expect(tool).toContainText('Fram ship museum')
  await expect(sources(page).getByRole('listitem')).toHaveText([
    /The Fram Museum frammuseum\.example/,
    /Fram \(ship\) encyclopedia\.example/,
  ])
  await sources(page).getByRole('link', { name: 'The Fram Museum' }).click()
  await expect(page.getByRole('dialog', { name: 'Leave the playground?' })).toContainText('https://frammuseum.example/visit')
  await page.getByRole('button', { name: 'Stay' }).click()
  expect(await violations(page)).toEqual([])
})

test('shows a picture and edits it in the next turn', async ({ page }) => {
  await finish(page, 'Picture')
  await finish(page, 'Edited picture')
  const pictures = page.getByTestId('message-assistant').getByRole('img')
  await expect(pictures).toHaveCount(2)
  await page.reload()
  await expect(pictures).toHaveCount(2)
  const drawn = await pictures.evaluateAll((found) => found.map((each) => [Reflect.get(each, 'naturalWidth'), each.getAttribute('src')]))
  expect(drawn.map(([width]) => width)).toEqual([480, 480])
  expect(new Set(drawn.map(([, data]) => data)).size).toBe(2)
  expect(await violations(page)).toEqual([])
})
