/** What the elements say, in the words of the page. */
export interface Words {
  conversation: string
  message: string
  send: string
  stop: string
  you: string
  model: string
  thinking: string
  allow: string
  refuse: string
  decline: string
  takeBack: string
  /** Names the list of models, and the place for files. */
  choice: string
  files: string
  /** What stands in place of something that cannot be shown, such as a sound. */
  hidden: string
}

/** In English. */
export const english: Words = {
  conversation: 'Conversation',
  message: 'Message',
  send: 'Send',
  stop: 'Stop',
  you: 'You',
  model: 'Assistant',
  thinking: 'Thinking',
  allow: 'Allow',
  refuse: 'Refuse',
  decline: 'Decline',
  takeBack: 'Take back',
  choice: 'Model',
  files: 'Picture',
  hidden: 'not shown here',
}
