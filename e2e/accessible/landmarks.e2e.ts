import { expect, test } from 'playwright/test'
import { card, pick, quickPage, repeat, status } from '../page/playground-page.ts'

test('announces calls, approvals, the trace and the tree to screen readers', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(quickPage)
  await pick(page, 'Approval')
  await expect(card(page)).toMatchAriaSnapshot(`
    - group:
      - code: write_file
      - text: /needs your approval .*thursday.md/
      - insertion: "+ Wind: east, force 3"
      - button "Approve"
      - button "Deny"
      - button "Inspect the call"
  `)
  await card(page).getByRole('button', { name: 'Approve' }).click()
  await expect(status(page)).toHaveAttribute('data-status', 'completed')
  await expect(page.getByRole('log')).toMatchAriaSnapshot(`
    - log "Conversation":
      - article:
        - heading "You" [level=3]
        - paragraph: Add an entry for Thursday.
        - button "Edit and send again"
      - article:
        - heading "Assistant" [level=3]
        - paragraph: Writing changes your files, so I ask first.
        - group:
          - code: write_file
          - text: /thursday.* done/
        - button "Branch from here"
      - article:
        - heading "Assistant" [level=3]
        - paragraph: /The tool answered/
  `)
  await expect(page.getByRole('table')).toMatchAriaSnapshot(`
    - table:
      - rowgroup:
        - row:
          - columnheader "What"
          - columnheader "When"
          - columnheader "Took"
      - rowgroup:
        - row:
          - rowheader /Demo model run, done/
        - row:
          - rowheader /turn 0 turn, done/
          - cell
          - cell /s$/
        - row:
          - rowheader /demo model, done/
          - cell "First token"
        - row:
          - rowheader /approval of write_file approval, done/
        - row:
          - rowheader /write_file tool, done/
  `)

  await repeat(page, 'Hello?')
  await page.getByTestId('message-user').last().getByRole('button', { name: 'Edit and send again' }).click()
  await page.getByRole('textbox', { name: 'Edited message' }).fill('And now?')
  await page.getByRole('button', { name: 'Send instead' }).click()
  await expect(page.getByRole('navigation', { name: 'Conversations' })).toMatchAriaSnapshot(`
    - navigation "Conversations":
      - heading "Conversations" [level=2]
      - button "New"
      - searchbox "Search conversations"
      - list:
        - listitem:
          - button /Add an entry for Thursday. .* 3 runs/
          - button "Delete “Add an entry for Thursday.”"
          - tree "Runs":
            - 'treeitem "run: Add an entry for Thursday. 2 turns , done" [level=1]'
            - 'treeitem "run: Hello? 1 turn , done" [level=1]'
            - 'treeitem "branch: And now? 1 turn , done" [level=1]'
  `)
})
