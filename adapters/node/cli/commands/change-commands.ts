import { lastPromptIndex } from '../../../../src/contract/message/message.ts'
import { ConfigError, textOf } from '../../../../src/index.ts'
import { mostLines, showChange } from '../questions/change-question.ts'
import type { Command } from './command.ts'

/** `/diff`: shows the file changes of this session. */
export const diff: Command = {
  argument: '[FILE]',
  help: 'show the file changes of this session',
  isAnytime: true,
  async run({ assistant: { snapshots }, screen }, wanted) {
    const { paint } = screen.paint
    const files = (await snapshots.touched()).filter(({ path }) => wanted === '' || path === wanted)
    let shown = 0
    for (const { path, before, now } of files) {
      if (now === undefined) screen.line(paint('yellow', `  ${path} cannot be read`))
      else if (now === null && before !== null) screen.line(paint('yellow', `  ${path} is gone`))
      else if (now !== null && !(before !== null && Buffer.from(before).equals(now))) {
        showChange({ path, after: decoded(now), ...(before !== null && { before: decoded(before) }) }, screen, mostLines)
      } else continue
      shown += 1
    }
    if (shown === 0) screen.line(paint('dim', '  no file changes by tools; changes by commands are not tracked'))
  },
}

const decoded = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)

/** `/undo`: removes the last user message and restores the files that tools changed after it. */
export const undo: Command = {
  argument: '',
  help: 'undo your last message and the file changes after it',
  isAnytime: false,
  async run(host) {
    const { screen, meter } = host
    const { agent, snapshots } = host.assistant
    const { paint, plain } = screen.paint
    const at = lastPromptIndex(agent.messages)
    const prompt = agent.messages[at]
    if (prompt?.role !== 'user') throw new ConfigError('invalidOption', 'There is nothing to undo.')
    const after = agent.messages.slice(at)
    const { files, notes } = await snapshots.takeBack(at, AbortSignal.timeout(60_000))
    agent.replaceMessages(agent.messages.slice(0, at))
    meter.tookBack(agent)
    screen.line(plain(`  undone: ${after.length} messages${files.length === 0 ? '' : `; restored: ${files.join(', ')}`}`))
    for (const note of notes) screen.line(paint('yellow', `  ${note}`))
    const ran = after.some(
      (message) => message.role === 'assistant' && message.content.some((block) => block.type === 'toolCall' && block.name === 'bash'),
    )
    if (ran) screen.line(paint('yellow', '  Commands also ran. Their effects are not undone.'))
    host.giveBack(textOf(prompt.content))
  },
}
