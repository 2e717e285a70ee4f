import { expect, main, test } from '../page/browser.ts'
import { composer, pick, quickPage, say, status } from '../page/playground-page.ts'

test('keeps runs and approvals with their conversation while another is shown', main, async ({ page }) => {
  await page.goto(quickPage)
  await pick(page, 'Approval')
  await expect(status(page)).toHaveText('Needs you')
  await expect(page).toHaveTitle(/needs you/)
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await expect(page.getByTestId('away')).toHaveText('1 more needs you')
  await expect(page.getByTestId('stored-session')).toContainText('needs you')
  await say(page, 'Something else.')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await expect(page).toHaveTitle(/needs you/)
  await page.getByTestId('stored-session').filter({ hasText: 'Thursday' }).getByRole('button').first().click()
  await page.getByRole('button', { name: 'Approve' }).click()
  await expect(page.getByText('The tool answered: Wrote 53 bytes')).toBeVisible()
  await expect(page).toHaveTitle('phi playground')
})

test('restores a partial response after its page closed', async ({ page }) => {
  await page.goto('/?pace=2')
  await pick(page, 'Text')
  const answer = page.getByTestId('message-assistant')
  // By then its first words were there for more than a second.
  await expect(answer).toContainText('Canadian Arctic')
  await page.reload()
  await expect(page.getByTestId('broken-off')).toBeVisible()
  await expect(answer).toContainText('The Fram was built to be caught.')
  await page.getByRole('button', { name: 'Go on', exact: true }).click()
  await expect(page.getByText('She stands in Oslo today')).toBeVisible()
})

test('restores unsent text after a reload and on return', async ({ page }) => {
  await page.goto(quickPage)
  await say(page, 'Hello.')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await composer(page).fill('half a thought')
  await page.reload()
  await expect(composer(page)).toHaveValue('half a thought')
  await page.getByRole('button', { name: 'New', exact: true }).click()
  await expect(composer(page)).toHaveValue('')
  await page.getByTestId('stored-session').getByRole('button').first().click()
  await expect(composer(page)).toHaveValue('half a thought')
})

test('names conversations, deletes many in one action and shows the storage in use', async ({ page }) => {
  await page.goto(quickPage)
  for (const text of ['One.', 'Two.', 'Three.']) {
    await say(page, text)
    await expect(status(page)).toHaveAttribute('data-status', 'completed')
    await page.getByRole('button', { name: 'New', exact: true }).click()
  }
  const stored = page.getByTestId('stored-session')
  await stored.filter({ hasText: 'Two.' }).hover()
  await page.getByRole('button', { name: 'Rename “Two.”' }).click()
  await page.getByRole('textbox', { name: 'Name of the conversation' }).fill('A better name')
  await page.getByRole('textbox', { name: 'Name of the conversation' }).press('Enter')
  await expect(stored.filter({ hasText: 'A better name' })).toHaveCount(1)
  await page.getByRole('button', { name: 'Storage' }).click()
  await expect(page.getByTestId('storage-figures')).toContainText('3 conversations. This page uses')
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Choose conversations' }).click()
  await page.getByRole('checkbox', { name: 'Choose “One.”' }).check()
  await page.getByRole('checkbox', { name: 'Choose “Three.”' }).check()
  await page.getByRole('button', { name: 'Delete 2' }).click()
  await page.getByRole('button', { name: 'Yes, delete 2 conversations' }).click()
  await expect(stored).toHaveCount(1)
  await expect(stored).toContainText('A better name')
})

test('lists and finds all of many conversations', async ({ page }) => {
  await page.goto(quickPage)
  await say(page, 'The needle.')
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  // Copied as the store has them: a hundred more.
  await page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const asked = indexedDB.open('phi-playground')
      asked.onsuccess = () => resolve(asked.result)
      asked.onerror = () => reject(asked.error)
    })
    const all = (name: string) =>
      new Promise<Record<string, unknown>[]>((resolve) => {
        const asked = database.transaction(name).objectStore(name).getAll()
        asked.onsuccess = () => resolve(asked.result)
      })
    const [sessions, records] = [await all('sessions'), await all('records')]
    const [first] = sessions
    const tx = database.transaction(['sessions', 'records'], 'readwrite')
    for (let copy = 1; copy <= 110; copy++) {
      const sid = `copy-${copy}`
      tx.objectStore('sessions').put({ ...first, sid, order: 100 + copy })
      for (const record of records.filter((each) => each.sid === first?.sid)) tx.objectStore('records').put({ ...record, sid })
    }
    await new Promise((resolve) => {
      tx.oncomplete = resolve
    })
    database.close()
  })
  await page.reload()
  await expect(page.getByTestId('stored-session')).toHaveCount(100)
  await page.getByRole('searchbox', { name: 'Search conversations' }).fill('needle')
  await expect(page.getByTestId('stored-session')).toHaveCount(111)
  await page.getByRole('searchbox', { name: 'Search conversations' }).fill('')
  await page.getByRole('button', { name: 'Earlier conversations' }).click()
  await expect(page.getByTestId('stored-session')).toHaveCount(111)
})

test('shows where conversations are stored before the first prompt', async ({ page }) => {
  await page.goto(quickPage)
  await expect(page.locator('.kept')).toContainText('In this browser only.')
})
