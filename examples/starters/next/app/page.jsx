import { Chat } from './chat.jsx'

export default function Page() {
  return (
    <main>
      <h1>A chat</h1>
      <Chat />
    </main>
  )
}
