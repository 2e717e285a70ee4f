import { definePlugin } from 'phi-core/loop'

const address = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g

/** Replaces mail addresses before anybody sees them. A word is held back until it is whole, so that none is seen in parts. */
export const piiFilter = definePlugin({
  name: 'pii-filter',
  covers: 'tree',
  begin() {
    const held = new Map<string, string>()
    return {
      delta({ messageId, contentIndex, text, isLast, isCut }) {
        const block = `${messageId} ${contentIndex}`
        const words = (held.get(block) ?? '') + text
        const end = isLast && !isCut ? words.length : words.search(/\S*$/) // half a word of a response that was cut off is not shown
        held.set(block, words.slice(end))
        return words.slice(0, end).replace(address, '[address]')
      },
    }
  },
})
