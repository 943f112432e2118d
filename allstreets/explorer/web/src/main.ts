import { mount } from "svelte";
import App from "./App.svelte";
import "./app/theme.css";

const target = document.getElementById("app");
if (target) mount(App, { target });
