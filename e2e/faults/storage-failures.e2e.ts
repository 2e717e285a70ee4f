import type { Page } from 'playwright/test'
import { expect, mainEverywhere, test } from '../page/browser.ts'
import { composer, quickPage, repeat, say, status } from '../page/playground-page.ts'

const words = 'These words must not be lost.'
const notices = (page: Page) => page.getByRole('alert')

test('keeps the draft on a full disk and sends it once there is room', mainEverywhere, async ({ page }) => {
  await page.goto(quickPage)
  await repeat(page, 'Before.')
  // As a browser refuses it; `session-store.e2e.ts` fills a real one.
  await page.evaluate(() => {
    const { add, put } = IDBObjectStore.prototype
    const refuse = () => {
      throw new DOMException('There is no room left on the disk.', 'QuotaExceededError')
    }
    Object.assign(IDBObjectStore.prototype, { add: refuse, put: refuse })
    addEventListener('there is room', () => Object.assign(IDBObjectStore.prototype, { add, put }))
  })
  await say(page, words)
  await expect(notices(page).first()).toContainText(/full|quota|room/i)
  await expect(page.getByRole('button', { name: 'Free space' }).first()).toBeVisible()
  await expect(composer(page)).toHaveValue(words)
  await page.evaluate(() => dispatchEvent(new Event('there is room')))
  await composer(page).press('Enter')
  await expect(page.getByText(`You wrote: “${words}”`)).toBeVisible()
  await expect(composer(page)).toHaveValue('')
  await page.reload()
  await expect(page.getByText(`You wrote: “${words}”`)).toBeVisible()
})

test('keeps unstored text at any failed write and sends it once on retry', async ({ page }) => {
  await page.goto(quickPage)
  await repeat(page, 'Before.')
  await page.evaluate(() => {
    const { add, put } = IDBObjectStore.prototype
    const isOver = () => Reflect.get(globalThis, '__writesLeft') !== undefined && Number(Reflect.get(globalThis, '__writesLeft')) <= 0
    const counted = (real: typeof put) =>
      function (this: IDBObjectStore, ...given: Parameters<typeof put>) {
        if (this.transaction.db.name !== 'phi-playground') return real.apply(this, given)
        if (isOver()) throw new DOMException('There is no room left on the disk.', 'QuotaExceededError')
        if (Reflect.has(globalThis, '__writesLeft'))
          Object.assign(globalThis, { __writesLeft: Reflect.get(globalThis, '__writesLeft') - 1 })
        return real.apply(this, given)
      }
    Object.assign(IDBObjectStore.prototype, { add: counted(add), put: counted(put) })
  })
  const userMessages = page.getByTestId('message-user')
  for (const writes of [0, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12]) {
    await test.step(`after ${writes} writes`, async () => {
      const text = `After ${writes} writes.`
      await page.getByRole('button', { name: 'New', exact: true }).click()
      await page.evaluate((left) => Object.assign(globalThis, { __writesLeft: left }), writes)
      await say(page, text)
      await expect(status(page)).toHaveAttribute('data-status', 'error')
      await expect(page.getByTestId('ending')).toContainText("The browser's storage quota for this page is used up.")
      expect(
        [await composer(page).inputValue(), ...(await userMessages.allInnerTexts())].filter((words) => words.includes(text)),
      ).toHaveLength(1)
      await page.evaluate(() => Reflect.deleteProperty(globalThis, '__writesLeft'))
      await page.getByTestId('ending').getByRole('button', { name: 'Try again' }).click()
      await expect(page.getByText(`You wrote: “${text}”`)).toBeVisible()
      await expect(status(page)).toHaveAttribute('data-status', 'completed')
      await expect(userMessages).toHaveCount(1)
      await expect(composer(page)).toHaveValue('')
    })
  }
  await page.reload()
  await expect(page.getByText('You wrote: “After 12 writes.”')).toBeVisible()
  await expect(userMessages).toHaveCount(1)
})

test('marks a damaged conversation and keeps the others and the draft', async ({ page }) => {
  await page.goto(quickPage)
  await repeat(page, 'Whole.')
  const whole = page.url()
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await repeat(page, 'To be damaged.')
  await composer(page).fill(words)
  await page.evaluate(
    async (sid) => {
      const asked = indexedDB.open('phi-playground')
      await new Promise((resolve) => asked.addEventListener('success', resolve))
      const tx = asked.result.transaction('records', 'readwrite')
      const store = tx.objectStore('records')
      const cursors = store.openCursor()
      cursors.onsuccess = () => {
        const cursor = cursors.result
        if (cursor === null) return
        if (cursor.value.sid === sid) cursor.update({ ...cursor.value, text: String(cursor.value.text).replaceAll('e', 'o') })
        cursor.continue()
      }
      await new Promise((resolve) => tx.addEventListener('complete', resolve))
      asked.result.close()
    },
    decodeURIComponent(new URL(page.url()).hash.slice(1).split('?')[0] ?? ''),
  )
  await page.reload()
  await expect(notices(page).first()).toContainText('Cannot open this conversation')
  await page.getByTestId('stored-session').filter({ hasText: 'Whole.' }).getByRole('button').first().click()
  await expect(page.getByText('You wrote: “Whole.”')).toBeVisible()
  expect(page.url().split('?')[1] ?? page.url()).toContain(new URL(whole).hash.slice(1, 9))
})

test('reports an older tab that locks the store, keeps working and offers a reload', async ({ page, context }) => {
  const older = await context.newPage()
  await older.goto('/files.json')
  await older.evaluate(async () => {
    const asked = indexedDB.open('phi-playground', 1)
    asked.onupgradeneeded = () => {
      asked.result.createObjectStore('sessions', { keyPath: 'sid' }).createIndex('order', 'order')
      asked.result.createObjectStore('records', { keyPath: ['sid', 'epoch', 'seq'] })
    }
    await new Promise((resolve) => asked.addEventListener('success', resolve))
  })
  await page.goto(quickPage)
  await expect(notices(page).first()).toContainText('Conversations are lost when you close this page')
  await repeat(page, words)
  await older.close()
  await page.reload()
  await expect(notices(page)).toHaveCount(0)
  await expect(status(page)).toHaveAttribute('data-status', 'idle')
})
