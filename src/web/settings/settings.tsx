export default function Settings() {
  return <p className="p-6">Settings</p>;
}
