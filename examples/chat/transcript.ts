import type { Chat, ChatMessage, ChatPart, ToolPart } from 'phi-core/store'

/** Renders the messages of `chat` into `list` and keeps them up to date. Returns a function that stops it. */
export function showTranscript(chat: Chat, list: HTMLElement): () => void {
  const rows = new Map<string, { of: ChatMessage; row: HTMLElement }>()
  list.replaceChildren()

  function draw(): void {
    const { messages } = chat.getSnapshot()
    const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40
    for (const message of messages) {
      const known = rows.get(message.id)
      // An unchanged message is the same object, so a delta renders one row.
      if (known?.of === message) continue
      const row = drawMessage(message, chat)
      if (known === undefined) list.append(row)
      else known.row.replaceWith(row)
      rows.set(message.id, { of: message, row })
    }
    for (const [id, { row }] of rows) {
      if (messages.some((message) => message.id === id)) continue
      row.remove()
      rows.delete(id)
    }
    if (isAtEnd) list.scrollTop = list.scrollHeight
  }

  draw()
  return chat.subscribe(draw)
}

function drawMessage(message: ChatMessage, chat: Chat): HTMLElement {
  const row = element('li')
  row.dataset.role = message.role
  row.append(...message.parts.map((part) => drawPart(part, chat)))
  return row
}

/** Renders model output and tool results as text, never as HTML. */
function drawPart(part: ChatPart, chat: Chat): HTMLElement {
  if (part.type === 'tool') return drawCall(part, chat)
  if (part.type === 'text') return element('p', part.text)
  if (part.type !== 'thinking') return element('p', `(${part.type})`)
  const details = element('details')
  details.append(element('summary', 'Thinking'), element('p', part.text))
  return details
}

/** Renders a tool call and its approval buttons. */
function drawCall({ toolName, status, inputText, result, approval }: ToolPart, { actions }: Chat): HTMLElement {
  const section = element('section')
  section.setAttribute('aria-label', toolName)
  section.dataset.status = status
  section.append(element('p', `${toolName} ${inputText} (${status})`))
  for (const block of result?.content ?? []) if (block.type === 'text') section.append(element('p', block.text))
  if (approval === undefined) return section
  // The decision applies to exactly the arguments shown.
  const allow = button('Allow', () => actions.approve(approval))
  const refuse = button('Deny', () => actions.deny(approval, 'The user denied the call.'))
  section.append(allow, refuse)
  return section
}

export function button(label: string, act: () => unknown): HTMLButtonElement {
  const made = element('button', label)
  made.type = 'button'
  made.addEventListener('click', act)
  return made
}

export function element<Name extends keyof HTMLElementTagNameMap>(name: Name, text = ''): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  made.textContent = text
  return made
}
