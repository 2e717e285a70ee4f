import { textOf } from 'phi-core'
import { scripted } from 'phi-core/testing'
import { expect, it } from 'vitest'
import { askDocuments } from '../../examples/recipes/content/many-documents.ts'

it('reads each document separately and answers from the findings in order', async () => {
  const model = scripted(({ messages }) => {
    const [file, question] = messages.at(-1)?.content ?? []
    if (file?.type !== 'file') return { text: 'Only a.txt speaks of bees.' }
    if (file.name === 'c.txt') return { fail: { code: 'unsupportedMedia', message: 'Too long.' } }
    expect(question).toMatchObject({ text: expect.stringContaining('Are there bees?') })
    return { text: `I read ${file.name}.` }
  })
  const documents = ['a.txt', 'b.txt', 'c.txt'].map((name) => new File(['Bees.'], name, { type: 'text/plain' }))
  expect(await askDocuments(model, documents, 'Are there bees?', 2)).toBe('Only a.txt speaks of bees.')
  const { requests } = model.provider
  expect(requests).toHaveLength(4)
  const last = requests.at(-1)?.messages[0]
  expect(textOf(last?.content ?? [])).toBe('Are there bees?\n\na.txt: I read a.txt.\n\nb.txt: I read b.txt.\n\nc.txt: not read (Too long.)')
})
