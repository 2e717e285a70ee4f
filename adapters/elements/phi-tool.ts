import { type Chat, messageOf, type ToolPart } from '../../src/store.ts'
import { ChatElement } from './chat-element.ts'
import { button, make } from './dom.ts'
import type { Words } from './phi-chat-options.ts'

/** Returns the tool call that the attributes `message` and `index` point to. */
function callOf(element: Element, chat: Chat): ToolPart | undefined {
  const message = messageOf(chat.getSnapshot(), element.getAttribute('message') ?? '')
  const part = message?.parts[Number(element.getAttribute('index'))]
  return part?.type === 'tool' ? part : undefined
}

/** The element `<phi-tool>`: input, progress, output and approval of one tool call. */
export class PhiToolElement extends ChatElement {
  #shown: ToolPart | undefined

  protected show(chat: Chat, labels: Words): void {
    const call = callOf(this, chat)
    if (call === undefined || call === this.#shown) return
    this.#shown = call
    const { toolName, status, input, inputText, output, progress, reason, approval, question } = call
    this.setAttribute('part', `tool tool-${status}`)
    this.setAttribute('status', status)
    this.setAttribute('role', 'group')
    this.setAttribute('aria-label', toolName)
    const asked = this.querySelector('phi-approval')
    const parts: (Element | undefined)[] = [
      make('span', 'tool-name', {}, toolName),
      make('span', 'tool-status', {}, status),
      make('pre', 'input', {}, input === undefined ? inputText : JSON.stringify(input, null, 2)),
      progress === undefined ? undefined : make('p', 'progress', {}, progress),
      output === undefined ? undefined : make('pre', 'output', {}, typeof output === 'string' ? output : JSON.stringify(output, null, 2)),
      reason === undefined ? undefined : make('p', 'reason', {}, reason),
      question === undefined ? undefined : make('p', 'question', {}, question.message),
      question === undefined ? undefined : button('decline', labels.decline, () => chat.actions.answer(question, { action: 'decline' })),
      approval === undefined ? undefined : (asked ?? this.#approval()),
    ]
    this.replaceChildren(...parts.filter((part) => part !== undefined))
  }

  #approval(): Element {
    const element = document.createElement('phi-approval')
    for (const name of ['message', 'index']) element.setAttribute(name, this.getAttribute(name) ?? '')
    return element
  }
}

/** The element `<phi-approval>`: the buttons that approve or deny a tool call. */
export class PhiApprovalElement extends ChatElement {
  protected show(chat: Chat, labels: Words): void {
    const approval = callOf(this, chat)?.approval
    if (approval === undefined || this.childElementCount > 0) return
    this.setAttribute('part', 'approval')
    const decide = (act: () => Promise<void>) => () => {
      // The buttons disappear with the focus: move it to the composer.
      const root = this.getRootNode()
      void act()
      const next = root instanceof ShadowRoot ? (root.host.querySelector('phi-composer') ?? root.querySelector('phi-composer')) : undefined
      next?.querySelector('textarea')?.focus()
    }
    this.append(
      button(
        'allow',
        labels.allow,
        decide(() => chat.actions.approve(approval)),
      ),
      button(
        'refuse',
        labels.refuse,
        decide(() => chat.actions.deny(approval)),
      ),
    )
  }
}
