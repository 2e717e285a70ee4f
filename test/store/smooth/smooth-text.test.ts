import { afterEach, describe, expect, it, vi } from 'vitest'
import { createStore, type RunState, smoothText } from '../../../src/store.ts'
import { agentEnd, type EventBody, end, start, textDelta } from '../events.ts'
import { frameMs, shownText, streaming } from './streaming.ts'

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index} `).join('')
const delta = (text: string, contentIndex = 0) => textDelta('m', text, contentIndex)
const thinking = (text: string): EventBody => ({
  type: 'messageUpdate',
  messageId: 'm',
  delta: { type: 'thinking', contentIndex: 0, delta: text },
})
const call: EventBody = {
  type: 'messageUpdate',
  messageId: 'm',
  delta: { type: 'toolCallDelta', contentIndex: 1, toolCallId: 'c', toolName: 'add', delta: '{' },
}

afterEach(() => vi.unstubAllGlobals())

describe('smoothText', () => {
  it('shows a burst in whole words, evenly over 250 ms', () => {
    const { say, seen, text } = streaming(smoothText('word'))
    say(delta(words(100)))
    const shown: string[] = []
    for (let ms = 0; ms < 256; ms += frameMs) {
      vi.advanceTimersByTime(frameMs)
      shown.push(text())
    }
    // The last word may still grow.
    expect(shown.at(-1)).toBe(words(99))
    expect(shown.every((each) => each.endsWith(' '))).toBe(true)
    const steps = shown.map((each, index) => each.length - (shown[index - 1]?.length ?? 0))
    expect(Math.max(...steps)).toBeLessThan(80)
    expect(Math.min(...steps.slice(0, -1))).toBeGreaterThan(20)
    // One notification each for run, message, block, and frame.
    expect(seen.length).toBe(3 + steps.length)
  })

  it('keeps up with a stream that never pauses', () => {
    const { say, text } = streaming(smoothText('word'))
    const arrived: string[] = ['']
    for (let at = 0; at < 3000; at += 20) {
      say(delta('one two three '))
      arrived.push(`${arrived.at(-1)}one two three `)
      vi.advanceTimersByTime(20)
      const due = arrived[arrived.length - 1 - Math.ceil((250 + frameMs) / 20)] ?? ''
      expect(text().length).toBeGreaterThanOrEqual(due.length - 'three '.length)
    }
  })

  it('keeps an even pace between bursts', () => {
    const { say, text } = streaming(smoothText('word'))
    const steps: number[] = []
    for (let ms = 0; ms < 3200; ms += frameMs) {
      if (ms % 160 === 0) say(delta(words(100)))
      const { length } = text()
      vi.advanceTimersByTime(frameMs)
      steps.push(text().length - length)
    }
    // A burst is ten frames of 79 characters.
    expect(Math.max(...steps)).toBeLessThan(110)
    expect(Math.min(...steps.slice(20))).toBeGreaterThan(50)
  })

  it('restarts the pace after a pause', () => {
    const { say, text } = streaming(smoothText('word'))
    say(delta('One. '), delta('Two'))
    vi.advanceTimersByTime(900)
    say(delta(` three ${words(100)}`))
    vi.advanceTimersByTime(2 * frameMs)
    expect(text().length).toBeLessThan(160)
  })

  it('speeds up if a burst follows another burst', () => {
    const { say, text } = streaming(smoothText('word'))
    say(delta(words(100)))
    vi.advanceTimersByTime(200)
    say(delta(words(400)))
    vi.advanceTimersByTime(64)
    expect(text().length).toBeGreaterThanOrEqual(words(99).length)
    vi.advanceTimersByTime(208)
    expect(text()).toBe(words(100) + words(399))
  })

  it('shows an incomplete word after one second without growth', () => {
    const { say, text } = streaming(smoothText('word'))
    say(delta('Hello wor'))
    vi.advanceTimersByTime(900)
    expect(text()).toBe('Hello ')
    vi.advanceTimersByTime(400)
    expect(text()).toBe('Hello wor')
    say(delta('ld and more'))
    vi.advanceTimersByTime(300)
    expect(text()).toBe('Hello world and ')
  })

  it('shows whole lines', () => {
    const { say, seen, text } = streaming(smoothText('line'))
    say(delta('One line\r\nand ano'))
    vi.advanceTimersByTime(frameMs)
    expect(text()).toBe('One line\r\n')
    vi.advanceTimersByTime(300)
    expect(text()).toBe('One line\r\n')
    say(delta('ther\n\nthird'))
    vi.advanceTimersByTime(300)
    expect(text()).toBe('One line\r\nand another\n\n')
    for (const state of seen) expect(['', '\n']).toContain(shownText(state).slice(-1))
  })

  it('shows a complete line before a longer incomplete line', () => {
    const { say, text } = streaming(smoothText('line'))
    say(delta(`- \n${'long '.repeat(100)}`))
    vi.advanceTimersByTime(300)
    expect(text()).toBe('- \n')
  })

  it('shows segments of a custom Intl.Segmenter', () => {
    const { say, seen, text } = streaming(smoothText(new Intl.Segmenter('en', { granularity: 'sentence' })))
    say(delta('First one. Second one. Thi'))
    vi.advanceTimersByTime(300)
    expect(text()).toBe('First one. Second one. ')
    for (const state of seen) expect(shownText(state)).toMatch(/^(First one\. (Second one\. )?)?$/)
  })

  it('smooths thinking, and shows all thinking when the text begins', () => {
    const { say, text } = streaming(smoothText('word'))
    say(thinking('Let me think about'))
    vi.advanceTimersByTime(frameMs)
    expect(text()).toBe('Let ')
    say(delta('The response', 1))
    expect(text()).toBe('Let me think about|')
    vi.advanceTimersByTime(frameMs)
    expect(text()).toBe('Let me think about|The ')
  })

  const endings: Record<string, EventBody[]> = {
    'a tool call': [call],
    'an approval': [{ type: 'approvalRequested', toolCallId: 'c', toolName: 'add', args: {}, argumentsHash: 'h' }],
    'a client tool call': [{ type: 'clientCallRequested', toolCallId: 'c', toolName: 'add', args: {}, argumentsHash: 'h' }],
    'a citation': [
      {
        type: 'messageUpdate',
        messageId: 'm',
        delta: { type: 'citation', contentIndex: 0, citation: { title: 'A page', url: 'https://a.example' } },
      },
    ],
    'the end of the message': [end('m', [{ type: 'text', text: 'Now I call add' }])],
    'the end of the run': [agentEnd('error')],
    'another message': [start('n')],
  }

  it.each(Object.entries(endings))('shows all text in the notification of %s', (_, bodies) => {
    const { say, seen, store, text } = streaming(smoothText('word'))
    say(delta('Now I '), delta('call add'))
    vi.advanceTimersByTime(frameMs)
    expect(text()).toBe('Now ')
    const before = seen.length
    say(...bodies)
    const [state] = seen.slice(before)
    const views = [...(state?.messages ?? []), ...(state?.live ? [state.live] : [])]
    expect(views.find(({ id }) => id === 'm')?.blocks[0]).toMatchObject({ text: 'Now I call add' })
    expect(vi.getTimerCount()).toBe(0)
    expect(store.getSnapshot()).toBe(state)
  })

  it('shows all text when reading the run fails', async () => {
    const { store, say, text } = streaming(smoothText('word'))
    say(delta('Now I call add'))
    // biome-ignore lint/correctness/useYield: it fails first
    const broken = async function* () {
      throw new Error('connection lost')
    }
    await expect(store.follow(broken())).rejects.toThrow('connection lost')
    expect([text(), store.getSnapshot().failure?.message]).toEqual(['Now I call add', 'connection lost'])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('ignores replayed events and publishes nothing for them', () => {
    const { say, seen, store, text } = streaming(smoothText('word'))
    say(delta('Now I call add'))
    vi.advanceTimersByTime(frameMs)
    const before = seen.length
    for (const seq of [1, 2, 3]) store.dispatch({ ...eventOf(delta('again')), seq })
    expect([seen.length, text()]).toEqual([before, 'Now '])
  })

  it('ignores a merged event that overlaps received text', () => {
    const { say, store, text } = streaming(smoothText('word'))
    say(delta('Now I call '), delta('add'))
    const merged = {
      type: 'messageUpdate',
      messageId: 'm',
      delta: { type: 'text', contentIndex: 0, delta: 'add twice' },
      fromSeq: 4,
    } as const
    store.dispatch({ ...eventOf(merged), seq: 5 })
    expect(text()).toBe('Now I call add')
    store.dispatch({ ...eventOf(delta(' twice and')), seq: 6 })
    vi.advanceTimersByTime(300)
    expect(text()).toBe('Now I call add twice ')
  })

  it('shows all text when an earlier block grows', () => {
    const { say, text } = streaming(smoothText('word'))
    say(delta('First one'), delta('Second one', 1))
    vi.advanceTimersByTime(frameMs)
    expect(text()).toBe('First one|Second ')
    say(delta(' more'))
    expect(text()).toBe('First one more|Second one')
  })

  it('immediately shows text from before the store was created', () => {
    const { text, sayAt } = streaming(smoothText('word'), { sent: -2000 })
    // A replay: sent over two seconds, and received at once.
    for (let ms = 0; ms < 2000; ms += 20) sayAt(ms - 2000, delta('word '))
    expect(text()).toBe('word '.repeat(100))
    sayAt(0, delta('and after the reload'))
    expect(text()).toBe('word '.repeat(100))
    vi.advanceTimersByTime(300)
    expect(text()).toBe(`${'word '.repeat(100)}and after the `)
  })

  it('smooths live text if the clock of the server is behind', () => {
    const behind = -60_000
    const { text, sayAt } = streaming(smoothText('word'), { sent: behind })
    const shown: string[] = []
    for (let ms = 0; ms < 400; ms += 20) {
      sayAt(behind, delta(words(4)))
      shown.push(text())
      vi.advanceTimersByTime(20)
    }
    const isWhole = shown.map((each, index) => each.length === words(4).length * (index + 1))
    // The first event cannot be told from a replay.
    expect(isWhole.slice(1)).not.toContain(true)
  })

  it('does not publish text again for sub-agent events', () => {
    const { say, seen, store, text } = streaming(smoothText('word'))
    say(delta('Now I call add'))
    vi.advanceTimersByTime(frameMs)
    const before = seen.length
    const event = { ...eventOf(start('child')), runId: 'child-run' }
    store.dispatch({ ...eventOf({ type: 'childEvent', toolCallId: 'c', toolName: 'ask', event }), seq: 4 })
    expect([seen.length, text()]).toEqual([before + 1, 'Now '])
  })
})

describe('smoothText without motion', () => {
  it('shows all text in a hidden tab, including text that waits for a frame', () => {
    const page = { hidden: false }
    vi.stubGlobal('document', page)
    const { say, text } = streaming(smoothText('word'))
    say(delta(words(100)))
    vi.advanceTimersByTime(frameMs)
    page.hidden = true
    vi.advanceTimersByTime(frameMs)
    expect(text()).toBe(words(100))
    say(delta('more'))
    expect([text(), vi.getTimerCount()]).toEqual([`${words(100)}more`, 0])
  })

  it('waits for an animation frame if the platform has them', () => {
    const frames: (() => void)[] = []
    vi.stubGlobal('requestAnimationFrame', (frame: () => void) => frames.push(frame))
    vi.stubGlobal('cancelAnimationFrame', (id: number) => frames.splice(id - 1))
    const { say, text } = streaming(smoothText('word'))
    say(delta(words(100)))
    vi.advanceTimersByTime(50)
    expect([text(), frames.length]).toEqual(['', 1])
    frames[0]?.()
    expect(text().length).toBeGreaterThan(100)
    expect([frames.length, vi.getTimerCount()]).toEqual([1, 1])
    say(end('m', [{ type: 'text', text: words(100) }]))
    expect([frames.length, vi.getTimerCount()]).toEqual([0, 0])
  })

  it('shows all text if animation frames stop', () => {
    const frames: (() => void)[] = []
    vi.stubGlobal('requestAnimationFrame', (frame: () => void) => frames.push(frame))
    vi.stubGlobal('cancelAnimationFrame', () => undefined)
    const { say, text } = streaming(smoothText('word'))
    say(delta(words(100)))
    vi.advanceTimersByTime(600)
    expect(text()).toBe(words(99))
  })

  it('follows the prefers-reduced-motion setting', () => {
    const list = { matches: true }
    const asked: string[] = []
    vi.stubGlobal('matchMedia', (query: string) => {
      asked.push(query)
      return list
    })
    const { say, text } = streaming(smoothText('word'))
    say(delta(words(100)))
    expect([text(), vi.getTimerCount()]).toEqual([words(100), 0])
    list.matches = false
    say(delta(words(100)))
    expect(text()).toBe(words(100))
    vi.advanceTimersByTime(frameMs)
    list.matches = true
    vi.advanceTimersByTime(frameMs)
    expect(text()).toBe(words(100) + words(100))
    expect(asked).toEqual(['(prefers-reduced-motion: reduce)'])
  })
})

describe('smoothText timers', () => {
  it('stops its timers and shows all text when the last listener unsubscribes', () => {
    const { say, stop, text } = streaming(smoothText('word'))
    say(delta('Hello there wor'))
    stop()
    expect([text(), vi.getTimerCount()]).toEqual(['Hello there wor', 0])
    say(delta('ld again'))
    expect([text(), vi.getTimerCount()]).toEqual(['Hello there world again', 0])
  })

  it('stops its timer when the pending word appears', () => {
    const { say, stop } = streaming(smoothText('word'))
    say(delta('wor'))
    vi.advanceTimersByTime(500)
    expect(vi.getTimerCount()).toBe(1)
    stop()
    expect(vi.getTimerCount()).toBe(0)
  })

  it('stops its timers when the store is closed', () => {
    const { say, store, text } = streaming(smoothText('word'))
    say(delta('Hello there wor'))
    store.close()
    expect([text(), vi.getTimerCount()]).toEqual(['Hello there wor', 0])
    say(delta('ld again'))
    expect(vi.getTimerCount()).toBe(0)
  })

  it('runs no timer while all lines are visible', () => {
    const { say, text } = streaming(smoothText('line'))
    say(delta('A line.\n'))
    vi.advanceTimersByTime(300)
    expect([text(), vi.getTimerCount()]).toEqual(['A line.\n', 0])
  })
})

describe('the smooth option', () => {
  it.each([['letter'], [undefined], [{ granularity: 'word' }]])('rejects the unit %j', (unit) => {
    // @ts-expect-error wrong on purpose
    expect(() => smoothText(unit)).toThrow(/unit.* must be "word" or "line", or an Intl\.Segmenter/)
  })

  it('rejects a plain unit and suggests smoothText', () => {
    // @ts-expect-error wrong on purpose
    expect(() => createStore(undefined, { smooth: 'word' })).toThrow(/smooth.* must be smoothText\('word'\)/)
  })

  it('does not smooth stored conversations or the server snapshot', () => {
    const { store } = streaming(smoothText('word'))
    const initial: RunState = store.getSnapshot()
    const other = createStore(undefined, { smooth: smoothText('word'), initial })
    expect([other.getSnapshot(), other.getServerSnapshot()]).toEqual([initial, initial])
    expect(other.getSnapshot()).toBe(initial)
  })
})

function eventOf<Body extends EventBody>(body: Body): Body & { runId: string; seq: number; at: number; sessionId: string; loopId: string } {
  return { ...body, runId: 'run-1', seq: 1, at: Date.now(), sessionId: 's', loopId: 's.demo.1' }
}
